// What the page uses of lit-html, for the type checker.
export type Result = { readonly strings: TemplateStringsArray };
export const nothing: unique symbol;
export function html(strings: TemplateStringsArray, ...values: unknown[]): Result;
export function render(value: unknown, container: HTMLElement): unknown;
