import { deviceErrorTable, type DeviceErrorCode } from '@hedgerow/contract/device-errors'

type Details = {
  message?: string
  reason?: string
  fieldErrors?: Record<string, string>
  retryAfterSeconds?: number
  errors?: readonly object[]
}

/** Ends a call with one of these errors. */
export class Refusal extends Error {
  readonly code: DeviceErrorCode
  readonly status: number
  readonly retryAfterSeconds: number
  /** The JSON of the answer. */
  readonly body: object

  constructor(code: DeviceErrorCode, { retryAfterSeconds = 1, ...details }: Details = {}) {
    super(code)
    const { status, message } = deviceErrorTable[code]
    this.code = code
    this.status = status
    this.retryAfterSeconds = retryAfterSeconds
    this.body = { error: code, message, ...details }
  }
}
