/** A camera gives no picture. The message is part of a sentence for people, without address or password. */
export class CameraError extends Error {
  override name = 'CameraError'
}

/** It refused the user name or the password. Many cameras lock the account after a few wrong ones. */
export class SignInRefused extends CameraError {
  override name = 'SignInRefused'

  constructor() {
    super('it refuses the user name or the password of its address')
  }
}

export const WANTS_SIGN_IN = 'it wants a user name and a password in its address'

/** Whether an address has a user name or a password. */
export function hasSignIn({ username, password }: URL): boolean {
  return username !== '' || password !== ''
}

/** The beginning of a sentence about a camera: `Camera yard`, but `Camera 1` for one that is named `camera 1`. */
export function cameraInWords(name: string): string {
  return /^camera\b/i.test(name) ? `C${name.slice(1)}` : `Camera ${name}`
}

/** The error for an HTTP status other than 2xx. */
export function refusalOf(status: number): CameraError {
  if (status === 401 || status === 403) return new SignInRefused()
  if (status === 404) return new CameraError('it has nothing at this path of its address')
  if (status >= 300 && status < 400) return new CameraError('it redirects to another address, which is not followed')
  return new CameraError(`it answers with status ${status}`)
}

/** The error for a failure of the network. */
export function networkFailure(error: unknown): CameraError {
  // camera.ts aborts a connection without pictures.
  if (error instanceof Error && error.name === 'AbortError') return new CameraError('it sends no picture')
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return new CameraError(WORDS[code] ?? (code.startsWith('ERR_TLS') || /CERT/.test(code) ? BAD_CERTIFICATE : BROKEN))
}

const BROKEN = 'the connection broke'
const BAD_CERTIFICATE = 'its certificate is not trusted'
const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'nothing answers at its port',
  EHOSTUNREACH: 'there is no route to it',
  ENETUNREACH: 'there is no route to it',
  ETIMEDOUT: 'it does not answer',
  ENOTFOUND: 'its name is not known',
  EAI_AGAIN: 'its name cannot be looked up',
  EPROTO: 'it does not speak TLS',
  ERR_SSL_WRONG_VERSION_NUMBER: 'it does not speak TLS',
}
