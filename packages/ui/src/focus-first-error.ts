const FRAMES_MAX = 10

/**
 * Moves focus to the first field with an error, once React has drawn the error; when no field gets one, to the notice
 * of the form that tells it.
 */
export function focusFirstError(form: HTMLFormElement | undefined, framesLeft = FRAMES_MAX): void {
  // React draws the new errors in its own task, and a frame may come before it.
  requestAnimationFrame(() =>
    setTimeout(() => {
      const field = form?.querySelector<HTMLElement>('[aria-invalid="true"]')
      if (field) field.focus()
      else if (framesLeft > 1) focusFirstError(form, framesLeft - 1)
      else form?.querySelector<HTMLElement>('[role="alert"][data-tone="danger"]')?.focus()
    }),
  )
}
