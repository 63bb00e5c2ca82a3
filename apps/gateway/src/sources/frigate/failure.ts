import type { FrigateSettings } from './schema.ts'

/** A failure of Frigate or of its connection. The message is a sentence for the person who runs this gateway. */
export class FrigateError extends Error {
  override name = 'FrigateError'
  /** The status of Frigate's answer; undefined without an answer. */
  readonly status: number | undefined
  /** A person has to change something: waiting does not help. */
  readonly isLasting: boolean

  constructor(sentence: string, { status, isLasting = false }: { status?: number; isLasting?: boolean } = {}) {
    super(sentence)
    this.status = status
    this.isLasting = isLasting
  }

  /** The sentence for a failure that has lasted this long, such as `2 minutes`. */
  inWords(span: string | undefined): string {
    return span === undefined
      ? this.message
      : this.message.replace(' does not answer:', ` has not answered for ${span}:`)
  }
}

type FrigateAccess = FrigateSettings & { hasSession?: boolean }

/** The error for an answer of Frigate with a status other than 2xx. */
export function refusal(status: number, settings: FrigateAccess): FrigateError {
  return new FrigateError(`Frigate answered ${status}${hintFor(status, settings)}.`, {
    status,
    isLasting: status >= 300 && status < 500 && status !== 429,
  })
}

export function wrongPassword(): FrigateError {
  return new FrigateError('Frigate answered 401 to the sign-in: user or password in gateway.yaml is wrong.', {
    status: 401,
    isLasting: true,
  })
}

/** `reason` is a part of a sentence. */
export function noAnswer(reason: string): FrigateError {
  return new FrigateError(`Frigate does not answer: ${reason}.`)
}

function hintFor(status: number, { user, proxySecret, hasSession = false }: FrigateAccess): string {
  if (status === 401 && proxySecret !== undefined) return ': proxySecret in gateway.yaml is not its proxy.auth_secret'
  if (status === 401 && hasSession) return ': it refuses a session that it issued itself'
  if (status === 401 && user !== undefined) return ': it has no sign-in, so something before it asks for one'
  if (status === 401) return ': it asks for sign-in. Give user and password, or proxySecret, in gateway.yaml'
  if (status === 403) return ': its user for this gateway may not read that. Its role needs this camera'
  if (status === 429) return ': it was asked too often'
  if (status >= 300 && status < 400) return ': it redirects to another address. Put that one in gateway.yaml'
  // Its TLS port answers plain HTTP with 400.
  if (status === 400) return ': its port may speak https only'
  return status >= 500 ? ': it has an internal error, or is starting' : ''
}
