import type { FormEvent } from 'react'
import { ApiError } from '#api/client.ts'
import { focusFirstError } from '@hedgerow/ui/focus-first-error.ts'

type Submitted = FormEvent<HTMLFormElement> | undefined

/** The part of a form that this needs. */
type Form<V> = {
  onSubmit(
    send: (values: V, event: Submitted) => Promise<void>,
    refuse: (errors: object, values: V, event: Submitted) => void,
  ): (event?: FormEvent<HTMLFormElement>) => void
  setErrors(errors: Record<string, string>): void
}

/**
 * The `onSubmit` of a form: `send` gets valid values. The hub's errors about fields appear beside them (`errorsOf`),
 * and the first wrong field gets the focus. Other errors are the mutation's, which the form shows.
 */
export function submitTo<V>(
  form: Form<V>,
  send: (values: V) => Promise<void>,
  errorsOf: (error: ApiError) => Record<string, string> = ({ fieldErrors }) => fieldErrors,
) {
  return form.onSubmit(
    async (values, event) => {
      // React clears `currentTarget` while the call runs.
      const element = event?.currentTarget
      try {
        await send(values)
      } catch (error) {
        if (!(error instanceof ApiError)) throw error
        form.setErrors(errorsOf(error))
        focusFirstError(element)
      }
    },
    (_errors, _values, event) => focusFirstError(event?.currentTarget),
  )
}

/** False when a person typed more while `sent` was under way: then the dialog stays open with it. */
export const isAsSent = <V>(form: { getValues(): V }, sent: V): boolean => form.getValues() === sent
