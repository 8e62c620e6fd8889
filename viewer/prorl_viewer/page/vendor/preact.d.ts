// Types of what the page uses of vendor/preact.js (htm 3.1.1 with Preact, one file as published on npm: htm/preact/standalone).
export type VNode = { type: unknown };
export type Child = VNode | string | number | null | undefined | boolean | Child[];
export function html(strings: TemplateStringsArray, ...values: unknown[]): VNode;
export function render(tree: Child, into: Element): void;
export function useState<T>(first: T | (() => T)): [T, (next: T | ((now: T) => T)) => void];
export function useEffect(effect: () => void | (() => void), inputs?: unknown[]): void;
export function useLayoutEffect(effect: () => void | (() => void), inputs?: unknown[]): void;
export function useMemo<T>(make: () => T, inputs: unknown[]): T;
export function useCallback<F extends (...given: never[]) => unknown>(call: F, inputs: unknown[]): F;
export function useRef<T>(first: T): { current: T };
export function useErrorBoundary(told?: (error: Error) => void): [Error | undefined, () => void];
