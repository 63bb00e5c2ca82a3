/** Takes the person to the first field that is said to be wrong, once that is on the page. */
export function focusFirstError(form: HTMLFormElement | undefined): void {
  requestAnimationFrame(() => form?.querySelector<HTMLElement>('[aria-invalid="true"]')?.focus())
}
