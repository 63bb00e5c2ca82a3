/**
 * Cameras that send JPEG over HTTP: as a stream of pictures (MJPEG), or one picture for each request (snapshot).
 * Redirects are followed within the camera's own origin only, so that no camera sends the gateway elsewhere.
 */
import { digestAuthorization, digestChallengeOf } from '../kernel/http-digest.ts'
import { CameraError, hasSignIn, refusalOf, WANTS_SIGN_IN } from './camera-error.ts'
import { askCamera, type CameraAnswer } from './camera-request.ts'
import { decodeJpeg, OWN_SIDE } from './decode.ts'
import { createJpegFinder, PICTURES_MAX, tooManyPictures, type FoundJpeg } from './jpeg-finder.ts'
import { unpackedParts } from './packed-parts.ts'
import type { PictureReader } from './picture-reader.ts'

/** More than any camera sends; a faster stream would only waste processor time. */
const BYTES_A_SECOND_MAX = 24 * 1024 * 1024
/** More than any headers, sound or padding between two pictures. */
const OUTSIDE_BYTES_MAX = 1024 * 1024
const REDIRECTS_MAX = 3
/** What may be a snapshot ends when nothing more comes for this time. */
const SNAPSHOT_SILENCE_MS = 1_500
const STREAM_SILENCE_MS = 10_000

export const readHttpCamera: PictureReader = async (settings, { offer, pause, noteKeyFrame, signal }) => {
  const url = new URL(settings.url)
  const authorization = createAuthorization(url)
  const take = ({ jpeg, isCut }: FoundJpeg) => {
    noteKeyFrame()
    offer(async () => ({
      jpeg,
      image: await decodeJpeg(jpeg, isCut),
      own: once(() => decodeJpeg(jpeg, isCut, OWN_SIDE)),
    }))
  }
  while (!signal.aborted) {
    const answer = await ask(url, authorization, signal)
    try {
      if (answer.status !== 200) throw refusalOf(answer.status)
      if ((await readPictures(answer, take)) > 1) throw new CameraError('its stream ended')
    } finally {
      answer.close()
    }
    await pause(1_000 / settings.framesPerSecond)
  }
}

/** Several who want it share one decoding. */
function once<T>(make: () => T): () => T {
  let made: { value: T } | undefined
  return () => (made ??= { value: make() }).value
}

/** The first request has no credentials; the answer says whether the camera wants Digest or Basic. */
async function ask(start: URL, authorization: Authorization, signal: AbortSignal): Promise<CameraAnswer> {
  let url = start
  let signIns = 0
  for (let redirects = 0; ;) {
    const answer = await askCamera(url, { authorization: authorization.next(url), signal })
    const { status } = answer
    const challenges = answer.all('www-authenticate')
    if (status === 401 || (status === 403 && challenges.length > 0)) {
      // A camera locks the account after some wrong passwords. A challenge may have expired meanwhile, once.
      if (signIns > (isStale(challenges) ? 1 : 0) || !authorization.accept(challenges)) return answer
      signIns++
      answer.close()
    } else {
      const to = status >= 300 && status < 400 && redirects < REDIRECTS_MAX ? withinOrigin(answer, url) : undefined
      if (!to) return answer
      redirects++
      answer.close()
      url = to
    }
  }
}

function isStale(challenges: readonly string[]): boolean {
  return challenges.some((one) => /\bstale\s{0,5}=\s{0,5}"?true/i.test(one))
}

/** Where a redirect leads, if that is at the same camera. */
function withinOrigin(answer: CameraAnswer, from: URL): URL | undefined {
  const location = answer.all('location')[0] ?? ''
  if (!URL.canParse(location, from)) return undefined
  const to = new URL(location, from)
  return to.origin === from.origin ? to : undefined
}

type Authorization = {
  /** The header of the next request; undefined before a challenge. */
  next(url: URL): string | undefined
  /**
   * Takes the challenges of an answer. Returns false when the next request would be the refused one again. Throws
   * CameraError when none can be met.
   */
  accept(challenges: readonly string[]): boolean
}

/** Digest where the camera offers it, otherwise Basic. */
function createAuthorization(url: URL): Authorization {
  const { username, password } = url
  const credentials = { user: decodeURIComponent(username), password: decodeURIComponent(password) }
  const basic = `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`
  const asBasic = () => basic
  let next: ((uri: string) => string) | undefined
  return {
    next: ({ pathname, search }) => next?.(pathname + search),
    accept(challenges) {
      if (!hasSignIn(url)) throw new CameraError(WANTS_SIGN_IN)
      const header = challenges.join(', ')
      const digest = digestChallengeOf(header)
      if (!digest && header !== '' && !/\bBasic\b/i.test(header))
        throw new CameraError('it wants a way of signing in that the gateway does not know')
      let count = 0
      const isAgain = !digest && next === asBasic
      next = digest
        ? (uri) => digestAuthorization(digest, { ...credentials, method: 'GET', uri, body: '', count: ++count })
        : asBasic
      return !isAgain
    },
  }
}

/** Returns how many pictures came until the answer ended. */
async function readPictures(answer: CameraAnswer, take: (picture: FoundJpeg) => void): Promise<number> {
  const finder = createJpegFinder()
  const meter = createMeter()
  const isStream = /^multipart\//i.test(typeOf(answer))
  /** The length of a snapshot, which may be wrong; 0 when there is none. */
  const claimed = isStream ? 0 : Number(/^\d{1,9}/.exec(answer.all('content-length')[0] ?? '')?.[0] ?? 0)
  let received = 0
  let pictures = 0
  for await (const bytes of claimed > 0 ? answer.body : unpackedParts(answer.body)) {
    const found = finder.take(bytes)
    received += bytes.length
    meter(bytes.length, found.length)
    for (const picture of found) {
      pictures++
      take(picture)
      if (claimed > 0) return pictures
    }
    if (finder.outsideBytes() > OUTSIDE_BYTES_MAX) throw withoutPicture(answer, received)
    if (isStream) continue
    // Some cameras neither tell where a snapshot ends nor end the connection; others stream without saying so.
    if (pictures > 1) answer.endWhenSilentFor(STREAM_SILENCE_MS)
    else if (claimed > 0 ? received >= claimed : pictures === 1) answer.endWhenSilentFor(SNAPSHOT_SILENCE_MS)
  }
  for (const picture of finder.rest()) {
    pictures++
    take(picture)
  }
  if (pictures === 0) throw withoutPicture(answer, received)
  return pictures
}

function typeOf(answer: CameraAnswer): string {
  return answer.all('content-type')[0] ?? ''
}

function withoutPicture(answer: CameraAnswer, received: number): CameraError {
  if (received === 0) return new CameraError('its answer is empty')
  const type = plain(typeOf(answer))
  return new CameraError(`it sends ${type === '' ? '' : `${type} and `}neither MJPEG nor JPEG`)
}

/** Throws when more comes in a second than a camera sends. */
function createMeter(): (bytes: number, pictures: number) => void {
  let since = performance.now()
  const sum = { bytes: 0, pictures: 0 }
  return (bytes, pictures) => {
    sum.bytes += bytes
    sum.pictures += pictures
    const now = performance.now()
    if (now - since < 1_000) {
      if (sum.bytes > BYTES_A_SECOND_MAX) throw new CameraError('it sends more than 24 MB a second')
      if (sum.pictures > PICTURES_MAX) throw tooManyPictures()
      return
    }
    since = now
    sum.bytes = 0
    sum.pictures = 0
  }
}

/** At most 40 characters, without those that are not safe to show. */
function plain(text: string): string {
  return text
    .replaceAll(/[^\w/+.-]+/g, ' ')
    .slice(0, 40)
    .trim()
}
