/** A ref for the one element of a step that gets the focus when the step appears. */
export const focusOnce = (element: HTMLElement | null): void => element?.focus()
