const FRAMES_MAX = 10

/** Takes the person to the first field that is said to be wrong, once that is on the page. */
export function focusFirstError(form: HTMLFormElement | undefined, framesLeft = FRAMES_MAX): void {
  // The errors were set just now; React shows them in a task of its own, which a frame may come before.
  requestAnimationFrame(() =>
    setTimeout(() => {
      const field = form?.querySelector<HTMLElement>('[aria-invalid="true"]')
      if (field) field.focus()
      else if (framesLeft > 1) focusFirstError(form, framesLeft - 1)
    }),
  )
}
