// Starts a program: its main, or one call of a method, whose declared types say how JSON becomes
// arguments. Reports on the channel to the host that memory ran out.

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.RecordComponent;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.zip.ZipFile;

final class ProrlAnswer {
    private static final String OWNER = "CALL_OWNER", NAME = "CALL_NAME";
    private static final int ANSWER = 3, QUESTION = 4, MAX_DEPTH = 100;
    private static final long STACK_BYTES = 64L << 20;

    private static final class Mismatch extends Exception {
        Mismatch(String text) { super(text, null, false, false); }
    }

    private static final class Unserialisable extends Exception {
        Unserialisable(String text) { super(text, null, false, false); }
    }

    /** A number as it is written: which type it becomes is for a declaration to say. */
    private record Word(String text) {}

    /** The program's thread has a large stack; those of the JVM, of which there are many, do not. */
    public static void main(String[] arguments) {
        new Thread(null, () -> guarded(arguments), "main", STACK_BYTES).start();
    }

    private static void guarded(String[] arguments) {
        try {
            if (NAME.isEmpty()) {
                run(arguments);
            } else {
                answer();
            }
        } catch (OutOfMemoryError error) {
            fail(error);
        } catch (InvocationTargetException error) {
            fail(error.getCause());
        } catch (ExceptionInInitializerError error) {
            fail(error.getCause() != null ? error.getCause() : error);
        } catch (Unserialisable error) {
            StringBuilder text = new StringBuilder();
            putText(error.getMessage(), text);
            send("{\"k\":\"unserialisable\",\"text\":" + text + "}");
            leave(1);
        } catch (Exception error) {
            fail(error);
        }
    }

    private static void run(String[] arguments) throws Exception {
        Class<?> chosen = null;
        int found = 0;
        for (Class<?> one : programs()) {
            Method main = mainOf(one);
            if (main == null) continue;
            found++;
            if (chosen == null || one.getSimpleName().equals("Main")) chosen = one;
        }
        if (chosen == null || (found > 1 && !chosen.getSimpleName().equals("Main"))) {
            System.err.println(found == 0
                ? "no class has a method main(String[])"
                : "several classes have a method main: call one of them Main");
            leave(1);
        }
        Method main = mainOf(chosen);
        main.setAccessible(true);
        main.invoke(null, (Object) arguments);
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

    /** The classes of the program, in the order of their names. */
    private static List<Class<?>> programs() throws IOException, ClassNotFoundException {
        List<String> names = new ArrayList<>();
        try (ZipFile archive = new ZipFile(System.getProperty("java.class.path"))) {
            archive.stream().forEach(entry -> {
                String name = entry.getName();
                if (name.endsWith(".class") && !name.startsWith("ProrlAnswer") && !name.endsWith("-info.class"))
                    names.add(name.substring(0, name.length() - ".class".length()).replace('/', '.'));
            });
        }
        names.sort(null);
        List<Class<?>> classes = new ArrayList<>();
        for (String name : names) classes.add(Class.forName(name, false, ProrlAnswer.class.getClassLoader()));
        return classes;
    }

    private static void answer() throws Exception {
        String text;
        try (FileInputStream file = new FileInputStream(descriptor(QUESTION))) {
            text = new String(file.readAllBytes(), StandardCharsets.UTF_8);
        }
        Map<?, ?> question = (Map<?, ?>) new Reader(text).value();
        List<?> given = (List<?>) question.get("args");
        Mismatch last = null;
        for (Method method : methods()) {
            Type[] types = method.getGenericParameterTypes();
            Object[] arguments = new Object[types.length];
            try {
                if (types.length != given.size())
                    throw new Mismatch(NAME + " takes " + types.length + " arguments, not " + given.size());
                for (int i = 0; i < types.length; i++) arguments[i] = convert(given.get(i), types[i]);
            } catch (Mismatch error) {
                last = error;
                continue;
            }
            Object owner = null;
            if (!Modifier.isStatic(method.getModifiers())) {
                Constructor<?> constructor = method.getDeclaringClass().getDeclaredConstructor();
                constructor.setAccessible(true);
                owner = constructor.newInstance();
            }
            method.setAccessible(true);
            Object value = method.invoke(owner, arguments);
            StringBuilder body = new StringBuilder("{\"k\":\"value\",\"v\":");
            try {
                put(value, body, 0);
            } catch (StackOverflowError error) {
                throw new Unserialisable("nested too deep");
            }
            body.append(",\"n\":");
            putText((String) question.get("n"), body);
            send(body.append("}").toString());
            leave(0);
        }
        throw last;
    }

    /** The methods that may be meant: those of one class, the class Solution before Main before others. */
    private static List<Method> methods() throws Exception {
        Map<Class<?>, List<Method>> found = new LinkedHashMap<>();
        for (Class<?> one : programs()) {
            boolean wanted = OWNER.isEmpty() || one.getSimpleName().equals(OWNER) || one.getName().equals(OWNER);
            if (!wanted) continue;
            for (Method method : one.getDeclaredMethods())
                if (method.getName().equals(NAME) && !method.isBridge() && !Modifier.isAbstract(method.getModifiers()))
                    found.computeIfAbsent(one, key -> new ArrayList<>()).add(method);
        }
        if (found.isEmpty()) throw new NoSuchMethodException("the program does not define " + NAME);
        for (String name : new String[] {"Solution", "Main"})
            for (Class<?> one : found.keySet())
                if (one.getSimpleName().equals(name)) return found.get(one);
        if (found.size() > 1) throw new Mismatch("several classes have a method " + NAME);
        return found.values().iterator().next();
    }

    private static Object convert(Object json, Type type) throws Mismatch {
        if (type instanceof Class<?> one) return convertTo(json, one, List.of());
        if (type instanceof ParameterizedType generic)
            return convertTo(json, (Class<?>) generic.getRawType(), List.of(generic.getActualTypeArguments()));
        if (type instanceof GenericArrayType array) return array(json, array.getGenericComponentType());
        if (type instanceof WildcardType wildcard) return convert(json, wildcard.getUpperBounds()[0]);
        if (type instanceof TypeVariable<?> variable) return convert(json, variable.getBounds()[0]);
        throw new Mismatch("no argument can be a " + type);
    }

    private static Object convertTo(Object json, Class<?> type, List<Type> parts) throws Mismatch {
        if (json == null) {
            if (type == Optional.class) return Optional.empty();
            if (type == OptionalInt.class) return OptionalInt.empty();
            if (type == OptionalLong.class) return OptionalLong.empty();
            if (type == OptionalDouble.class) return OptionalDouble.empty();
            if (type.isPrimitive()) throw new Mismatch("null is no " + type);
            return null;
        }
        if (type.isArray()) return array(json, type.getComponentType());
        if (type == Optional.class) return Optional.of(convert(json, part(parts, 0)));
        if (type == OptionalInt.class) return OptionalInt.of((Integer) convertTo(json, int.class, parts));
        if (type == OptionalLong.class) return OptionalLong.of((Long) convertTo(json, long.class, parts));
        if (type == OptionalDouble.class) return OptionalDouble.of((Double) convertTo(json, double.class, parts));
        Object made = null;
        if (json instanceof Boolean) {
            made = type == boolean.class || type.isAssignableFrom(Boolean.class) ? json : null;
        } else if (json instanceof String text) {
            if (type.isAssignableFrom(String.class)) made = text;
            else if ((type == char.class || type == Character.class) && text.length() == 1) made = text.charAt(0);
        } else if (json instanceof Word word) {
            made = number(word.text(), type);
        } else if (json instanceof List<?> list) {
            Collection<Object> items = collection(type);
            if (items == null) throw new Mismatch("a list is no " + type.getName());
            for (Object item : list) items.add(convert(item, part(parts, 0)));
            made = items;
        } else if (json instanceof Map<?, ?> map) {
            Map<Object, Object> members = mapping(type);
            if (members == null) throw new Mismatch("an object is no " + type.getName());
            for (Map.Entry<?, ?> member : map.entrySet())
                members.put(key((String) member.getKey(), part(parts, 0)), convert(member.getValue(), part(parts, 1)));
            made = members;
        }
        if (made == null) throw new Mismatch("an argument is no " + type.getName());
        return made;
    }

    private static Type part(List<Type> parts, int number) {
        return number < parts.size() ? parts.get(number) : Object.class;
    }

    /** An object's keys are text; the key of a number or a boolean is its text. */
    private static Object key(String text, Type type) throws Mismatch {
        if (type == String.class || type == Object.class || type == Character.class) return convert(text, type);
        if (type == Boolean.class) return convert(Boolean.valueOf(text), type);
        return convert(new Word(text), type);
    }

    private static Object array(Object json, Type type) throws Mismatch {
        if (!(json instanceof List<?> list)) throw new Mismatch("an argument is no array");
        Type raw = type instanceof ParameterizedType generic ? generic.getRawType() : type;
        Object[] items = new Object[list.size()];
        for (int i = 0; i < items.length; i++) items[i] = convert(list.get(i), type);
        Class<?> kind = raw instanceof Class<?> one ? one : items.length > 0 ? items[0].getClass() : Object.class;
        Object made = Array.newInstance(kind, items.length);
        for (int i = 0; i < items.length; i++) Array.set(made, i, items[i]);
        return made;
    }

    private static Collection<Object> collection(Class<?> type) throws Mismatch {
        if (type.isAssignableFrom(ArrayList.class)) return new ArrayList<>();
        if (type.isAssignableFrom(LinkedHashSet.class)) return new LinkedHashSet<>();
        if (type.isAssignableFrom(TreeSet.class)) return new TreeSet<>();
        if (type.isAssignableFrom(ArrayDeque.class)) return new ArrayDeque<>();
        return Collection.class.isAssignableFrom(type) ? instance(type) : null;
    }

    private static Map<Object, Object> mapping(Class<?> type) throws Mismatch {
        if (type.isAssignableFrom(LinkedHashMap.class)) return new LinkedHashMap<>();
        if (type.isAssignableFrom(TreeMap.class)) return new TreeMap<>();
        return Map.class.isAssignableFrom(type) ? instance(type) : null;
    }

    @SuppressWarnings("unchecked")
    private static <T> T instance(Class<?> type) throws Mismatch {
        try {
            return (T) type.getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException error) {
            throw new Mismatch("no argument can be a " + type.getName());
        }
    }

    private static Object number(String text, Class<?> type) throws Mismatch {
        boolean whole = text.matches("-?\\d+");
        try {
            if (type == double.class || type == Double.class) return Double.valueOf(text);
            if (type == float.class || type == Float.class) return Float.valueOf(text);
            if (!whole) {
                if (type.isAssignableFrom(Double.class)) return Double.valueOf(text);
                if (type == BigDecimal.class) return new BigDecimal(text);
                throw new Mismatch(text + " is no " + type.getName());
            }
            BigInteger value = new BigInteger(text);
            if (type == int.class || type == Integer.class) return value.intValueExact();
            if (type == long.class || type == Long.class) return value.longValueExact();
            if (type == short.class || type == Short.class) return value.shortValueExact();
            if (type == byte.class || type == Byte.class) return value.byteValueExact();
            if (type == BigInteger.class) return value;
            if (type == BigDecimal.class) return new BigDecimal(value);
            if (type.isAssignableFrom(Integer.class))  // Object, Number, Comparable
                return value.bitLength() < 32 ? (Object) value.intValue() : value.bitLength() < 64 ? (Object) value.longValue() : value;
        } catch (ArithmeticException error) {
            throw new Mismatch(text + " does not fit a " + type.getName());
        } catch (NumberFormatException error) {
            throw new Mismatch(text + " is no number");
        }
        throw new Mismatch("a number is no " + type.getName());
    }

    private static void put(Object value, StringBuilder out, int depth) throws Exception {
        if (depth > MAX_DEPTH) throw new Unserialisable("nested deeper than " + MAX_DEPTH);
        if (value == null || value instanceof Boolean) {
            out.append(value);
        } else if (value instanceof Integer || value instanceof Long || value instanceof Short || value instanceof Byte) {
            out.append(value);
        } else if (value instanceof BigInteger big) {
            out.append("{\"t\":\"int\",\"v\":\"").append(big.toString(16)).append("\"}");
        } else if (value instanceof Double || value instanceof Float || value instanceof BigDecimal) {
            double number = ((Number) value).doubleValue();
            if (Double.isNaN(number) || Double.isInfinite(number)) {
                String word = Double.isNaN(number) ? "nan" : number < 0 ? "-inf" : "inf";
                out.append("{\"t\":\"float\",\"v\":\"").append(word).append("\"}");
            } else {
                out.append(number);
            }
        } else if (value instanceof CharSequence || value instanceof Character) {
            putText(value.toString(), out);
        } else if (value instanceof Optional<?> optional) {
            put(optional.orElse(null), out, depth);
        } else if (value instanceof OptionalInt optional) {
            put(optional.isPresent() ? optional.getAsInt() : null, out, depth);
        } else if (value instanceof OptionalLong optional) {
            put(optional.isPresent() ? optional.getAsLong() : null, out, depth);
        } else if (value instanceof OptionalDouble optional) {
            put(optional.isPresent() ? optional.getAsDouble() : null, out, depth);
        } else if (value.getClass().isArray()) {
            List<Object> items = new ArrayList<>();
            for (int i = 0; i < Array.getLength(value); i++) items.add(Array.get(value, i));
            putList(items, out, depth);
        } else if (value instanceof Map<?, ?> map) {
            out.append("{\"t\":\"dict\",\"v\":");
            List<Object> pairs = new ArrayList<>();
            for (Map.Entry<?, ?> member : map.entrySet()) pairs.add(member);
            putList(pairs, out, depth);
            out.append("}");
        } else if (value instanceof Map.Entry<?, ?> pair) {
            List<Object> both = new ArrayList<>();
            both.add(pair.getKey());
            both.add(pair.getValue());
            putList(both, out, depth);
        } else if (value instanceof Collection<?> items) {
            putList(items, out, depth);
        } else if (value.getClass().isRecord()) {
            List<Object> parts = new ArrayList<>();
            for (RecordComponent component : value.getClass().getRecordComponents()) {
                component.getAccessor().setAccessible(true);
                parts.add(component.getAccessor().invoke(value));
            }
            putList(parts, out, depth);
        } else {
            throw new Unserialisable("a " + value.getClass().getName() + " cannot leave the box");
        }
    }

    private static void putList(Collection<?> items, StringBuilder out, int depth) throws Exception {
        String before = "[";
        for (Object item : items) {
            out.append(before);
            put(item, out, depth + 1);
            before = ",";
        }
        out.append(items.isEmpty() ? "[]" : "]");
    }

    private static void putText(String text, StringBuilder out) {
        out.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') out.append('\\').append(c);
            else if (c < 0x20 || c > 0x7e) out.append(String.format("\\u%04x", (int) c));
            else out.append(c);
        }
        out.append('"');
    }

    private static FileDescriptor descriptor(int number) {
        try {
            FileDescriptor made = new FileDescriptor();
            Field field = FileDescriptor.class.getDeclaredField("fd");
            field.setAccessible(true);
            field.setInt(made, number);
            return made;
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    private static void send(String message) {
        byte[] body = message.getBytes(StandardCharsets.US_ASCII);
        byte[] frame = new byte[body.length + 4];
        for (int i = 0; i < 4; i++) frame[i] = (byte) (body.length >>> 8 * (3 - i));
        System.arraycopy(body, 0, frame, 4, body.length);
        try (FileOutputStream channel = new FileOutputStream(descriptor(ANSWER))) {
            channel.write(frame);
        } catch (IOException error) {
            leave(1);
        }
    }

    /** Print what an uncaught exception prints, and say that it ended the program. */
    private static void fail(Throwable error) {
        boolean memory = error instanceof OutOfMemoryError;
        StringBuilder name = new StringBuilder();
        putText(error.getClass().getName(), name);
        send("{\"k\":\"raise\",\"type\":" + name + ",\"memory\":" + memory + "}");
        if (memory || error instanceof Mismatch) {
            System.err.println(error);
        } else {
            System.err.print("Exception in thread \"main\" ");
            error.printStackTrace();
        }
        leave(1);
    }

    private static void leave(int code) {
        System.out.flush();
        System.err.flush();
        Runtime.getRuntime().halt(code);
    }

    private static final class Reader {
        private final String text;
        private int at;

        Reader(String text) { this.text = text; }

        Object value() {
            switch (next()) {
                case '[': {
                    List<Object> items = new ArrayList<>();
                    for (at++; next() != ']'; ) {
                        if (text.charAt(at) == ',') at++;
                        items.add(value());
                    }
                    at++;
                    return items;
                }
                case '{': {
                    Map<String, Object> members = new LinkedHashMap<>();
                    for (at++; next() != '}'; ) {
                        if (text.charAt(at) == ',') at++;
                        next();
                        String key = string();
                        next();
                        at++;  // the colon
                        members.put(key, value());
                    }
                    at++;
                    return members;
                }
                case '"':
                    return string();
                default: {
                    int start = at;
                    while (at < text.length() && ",]} \n".indexOf(text.charAt(at)) < 0) at++;
                    String word = text.substring(start, at);
                    if (word.equals("null")) return null;
                    if (word.equals("true") || word.equals("false")) return word.equals("true");
                    return new Word(word);
                }
            }
        }

        private char next() {
            while (" \t\r\n".indexOf(text.charAt(at)) >= 0) at++;
            return text.charAt(at);
        }

        private String string() {
            StringBuilder made = new StringBuilder();
            for (at++; text.charAt(at) != '"'; ) {
                char c = text.charAt(at++);
                if (c != '\\') {
                    made.append(c);
                    continue;
                }
                c = text.charAt(at++);
                switch (c) {
                    case 'b': made.append('\b'); break;
                    case 'f': made.append('\f'); break;
                    case 'n': made.append('\n'); break;
                    case 'r': made.append('\r'); break;
                    case 't': made.append('\t'); break;
                    case 'u':
                        made.append((char) Integer.parseInt(text.substring(at, at + 4), 16));
                        at += 4;
                        break;
                    default: made.append(c);
                }
            }
            at++;
            return made.toString();
        }
    }
}
