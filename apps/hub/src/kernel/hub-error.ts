import { errorTable, type ErrorCode } from '@hedgerow/contract'

/**
 * A refusal. Throw it anywhere below a request (it also rolls the transaction back): http/errors.ts answers with the
 * code's status and message. `message` replaces the code's own sentence and is shown to people, so it must not hold the
 * caller's input.
 */
export class HubError extends Error {
  readonly code: ErrorCode
  readonly fieldErrors: Record<string, string> | undefined
  /** Milliseconds until the same request may be tried again, if known; sent in `Retry-After`. */
  readonly retryAfterMs: number | undefined

  constructor(
    code: ErrorCode,
    options: { message?: string; fieldErrors?: Record<string, string>; retryAfterMs?: number; cause?: unknown } = {},
  ) {
    super(options.message ?? errorTable[code].message, { cause: options.cause })
    this.name = 'HubError'
    this.code = code
    this.fieldErrors = options.fieldErrors
    this.retryAfterMs = options.retryAfterMs
  }

  get status(): number {
    return errorTable[this.code].status
  }
}
