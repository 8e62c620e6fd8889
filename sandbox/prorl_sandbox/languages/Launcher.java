// Runs a program's main method, and tells the host when an exception or a lack of memory ends it.

import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.zip.ZipFile;

final class ProrlLauncher {
    private static final int CHANNEL = 3;
    private static final long STACK_BYTES = 64L << 20;

    /** The program's thread has a large stack; the many threads of the JVM do not. */
    public static void main(String[] arguments) {
        new Thread(null, () -> run(arguments), "main", STACK_BYTES).start();
    }

    private static void run(String[] arguments) {
        try {
            Method main = findMain();
            main.setAccessible(true);
            main.invoke(null, (Object) arguments);
        } catch (InvocationTargetException error) {
            fail(error.getCause());
        } catch (ExceptionInInitializerError error) {
            fail(error.getCause() != null ? error.getCause() : error);
        } catch (OutOfMemoryError | Exception error) {
            fail(error);
        }
    }

    /** Return the only main method of the program, or that of the class Main if there are several. */
    private static Method findMain() throws IOException, ClassNotFoundException {
        Method chosen = null;
        int count = 0;
        for (Class<?> one : programClasses()) {
            Method main = mainOf(one);
            if (main == null) continue;
            count++;
            if (chosen == null || one.getSimpleName().equals("Main")) chosen = main;
        }
        if (chosen == null || (count > 1 && !chosen.getDeclaringClass().getSimpleName().equals("Main"))) {
            System.err.println(count == 0
                ? "no class has a method main(String[])"
                : "several classes have a method main: call one of them Main");
            leave(1);
        }
        return chosen;
    }

    private static Method mainOf(Class<?> one) {
        try {
            Method main = one.getDeclaredMethod("main", String[].class);
            boolean fits = Modifier.isStatic(main.getModifiers()) && main.getReturnType() == void.class;
            return fits ? main : null;
        } catch (NoSuchMethodException error) {
            return null;
        }
    }

    /** Return the classes of the program in the order of their names. */
    private static List<Class<?>> programClasses() throws IOException, ClassNotFoundException {
        List<String> names = new ArrayList<>();
        try (ZipFile archive = new ZipFile(System.getProperty("java.class.path"))) {
            archive.stream().forEach(entry -> {
                String name = entry.getName();
                if (name.endsWith(".class") && !name.startsWith("ProrlLauncher") && !name.endsWith("-info.class"))
                    names.add(name.substring(0, name.length() - ".class".length()).replace('/', '.'));
            });
        }
        names.sort(null);
        List<Class<?>> classes = new ArrayList<>();
        for (String name : names) classes.add(Class.forName(name, false, ProrlLauncher.class.getClassLoader()));
        return classes;
    }

    /** Print what an uncaught exception prints, and tell the host that it ended the program. */
    private static void fail(Throwable error) {
        boolean memory = error instanceof OutOfMemoryError;
        send("{\"k\":\"raise\",\"memory\":" + memory + "}");
        if (memory) {
            System.err.println(error);
        } else {
            System.err.print("Exception in thread \"main\" ");
            error.printStackTrace();
        }
        leave(1);
    }

    /** Write one frame to the host: the length of the message in four bytes, then the message. */
    private static void send(String message) {
        byte[] body = message.getBytes(StandardCharsets.US_ASCII);
        byte[] frame = new byte[body.length + 4];
        for (int i = 0; i < 4; i++) frame[i] = (byte) (body.length >>> 8 * (3 - i));
        System.arraycopy(body, 0, frame, 4, body.length);
        try (FileOutputStream channel = new FileOutputStream(channelDescriptor())) {
            channel.write(frame);
        } catch (IOException error) {
            leave(1);
        }
    }

    private static FileDescriptor channelDescriptor() {
        try {
            FileDescriptor descriptor = new FileDescriptor();
            Field number = FileDescriptor.class.getDeclaredField("fd");
            number.setAccessible(true);
            number.setInt(descriptor, CHANNEL);
            return descriptor;
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    private static void leave(int code) {
        System.out.flush();
        System.err.flush();
        Runtime.getRuntime().halt(code);
    }
}
