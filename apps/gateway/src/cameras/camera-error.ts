/** A camera gives no picture. The message is part of a sentence for people, without address or password. */
export class CameraError extends Error {
  override name = 'CameraError'
}

/** The beginning of a sentence about a camera: `Camera yard`, but `Camera 1` for one that is named `camera 1`. */
export function cameraInWords(name: string): string {
  return /^camera\b/i.test(name) ? `C${name.slice(1)}` : `Camera ${name}`
}

/** The error for an HTTP status other than 2xx. */
export function refusalOf(status: number): CameraError {
  if (status === 401 || status === 403)
    return new CameraError('it refuses the user name or the password of its address')
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
  HPE_HEADER_OVERFLOW: 'its answer is not HTTP',
}
