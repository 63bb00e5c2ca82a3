/**
 * Cameras that send JPEG over HTTP: as a stream of parts (MJPEG), or one picture for each request (snapshot).
 * Redirects are refused, so that no camera sends the gateway elsewhere.
 */
import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request as requestHttps } from 'node:https'
import { GatheredBytes, request as requestHttp } from '@hedgerow/http'
import { CameraError, networkFailure, refusalOf } from './camera-error.ts'
import { digestAuthorization, digestChallengeOf } from '../kernel/http-digest.ts'
import { decodeJpeg } from './decode.ts'
import { createPartReader, delimiterOf, PART_BYTES_MAX } from './multipart.ts'
import type { PictureReader } from './picture-reader.ts'

const ANSWER_MS = 10_000
/** More than any camera sends; a faster stream would only waste processor time. */
const BYTES_A_SECOND_MAX = 24 * 1024 * 1024
/** Some seconds of the fastest cameras, which a weak network may deliver all at once. */
const PARTS_A_SECOND_MAX = 1_000

export const readHttpCamera: PictureReader = async (settings, { offer, pause, noteKeyFrame, signal }) => {
  const url = new URL(settings.url)
  const authorization = createAuthorization(url)
  const take = (jpeg: Buffer) => {
    noteKeyFrame()
    offer(async () => ({ jpeg, image: await decodeJpeg(jpeg) }))
  }
  while (!signal.aborted) {
    const answer = await ask(url, authorization, signal)
    const { statusCode = 0 } = answer
    if (statusCode !== 200) {
      answer.destroy()
      throw refusalOf(statusCode)
    }
    const contentType = answer.headers['content-type']
    const delimiter = delimiterOf(contentType)
    if (delimiter !== undefined) {
      await readParts(answer, delimiter, take)
      throw new CameraError('its stream ended')
    }
    if (contentType !== undefined && !/^image\/jpe?g\b/i.test(contentType)) {
      answer.destroy()
      throw new CameraError(`it sends ${plain(contentType)} and neither MJPEG nor JPEG`)
    }
    take(await readSnapshot(answer))
    await pause(1_000 / settings.framesPerSecond)
  }
}

/** The first request has no credentials; the answer says whether the camera wants Digest or Basic. */
async function ask(url: URL, authorization: Authorization, signal: AbortSignal): Promise<IncomingMessage> {
  const answer = await send(url, authorization.next(), signal)
  if (answer.statusCode !== 401 || !authorization.accept(answer.headers['www-authenticate'])) return answer
  answer.destroy()
  return send(url, authorization.next(), signal)
}

async function send(url: URL, authorization: string | undefined, signal: AbortSignal): Promise<IncomingMessage> {
  const bare = new URL(url)
  bare.username = ''
  bare.password = ''
  const request = (url.protocol === 'https:' ? requestHttps : requestHttp)(bare, {
    agent: false,
    signal,
    timeout: ANSWER_MS,
    headers: {
      accept: 'multipart/x-mixed-replace, image/jpeg',
      ...(authorization !== undefined && { authorization }),
    },
  })
  request.once('timeout', () => request.destroy(new CameraError('it does not answer')))
  request.end()
  try {
    const [answer] = (await once(request, 'response')) as [IncomingMessage]
    // The reader gets the same error; without a listener it would end the process.
    request.on('error', () => {})
    answer.on('error', () => {})
    return answer
  } catch (error) {
    throw error instanceof CameraError ? error : networkFailure(error)
  }
}

type Authorization = {
  /** The header of the next request; undefined before a challenge. */
  next(): string | undefined
  /** Takes the challenge of an answer 401. False when it cannot be met. */
  accept(challenge: string | undefined): boolean
}

/** Digest where the camera offers it, otherwise Basic. */
function createAuthorization({ username, password, pathname, search }: URL): Authorization {
  const credentials = { user: decodeURIComponent(username), password: decodeURIComponent(password) }
  const basic = `Basic ${Buffer.from(`${credentials.user}:${credentials.password}`).toString('base64')}`
  let next: (() => string) | undefined
  return {
    next: () => next?.(),
    accept(header) {
      if (username === '') return false
      const digest = digestChallengeOf(header)
      if (!digest && header !== undefined && !/\bBasic\b/i.test(header)) return false
      let count = 0
      const request = { ...credentials, method: 'GET', uri: pathname + search }
      next = digest ? () => digestAuthorization(digest, { ...request, count: ++count }) : () => basic
      return true
    },
  }
}

async function readParts(answer: IncomingMessage, delimiter: string, take: (jpeg: Buffer) => void): Promise<void> {
  const partsOf = createPartReader(delimiter)
  const meter = createMeter()
  await readBytes(answer, (bytes) => {
    const parts = partsOf(bytes)
    meter(bytes.length, parts.length)
    for (const jpeg of parts) take(jpeg)
  })
}

async function readSnapshot(answer: IncomingMessage): Promise<Buffer> {
  const picture = new GatheredBytes()
  await readBytes(answer, (bytes) => {
    if (picture.length + bytes.length > PART_BYTES_MAX) throw new CameraError('it sends a picture of more than 8 MB')
    picture.add(bytes)
  })
  return picture.take()
}

async function readBytes(answer: IncomingMessage, take: (bytes: Buffer) => void): Promise<void> {
  try {
    for await (const bytes of answer) take(bytes as Buffer)
  } catch (error) {
    throw error instanceof CameraError ? error : networkFailure(error)
  } finally {
    answer.destroy()
  }
}

/** Throws when more comes in a second than a camera sends. */
function createMeter(): (bytes: number, parts: number) => void {
  let since = performance.now()
  const sum = { bytes: 0, parts: 0 }
  return (bytes, parts) => {
    sum.bytes += bytes
    sum.parts += parts
    const now = performance.now()
    if (now - since < 1_000) {
      if (sum.bytes > BYTES_A_SECOND_MAX) throw new CameraError('it sends more than 24 MB a second')
      if (sum.parts > PARTS_A_SECOND_MAX) throw new CameraError('it sends more than 1,000 pictures a second')
      return
    }
    since = now
    sum.bytes = 0
    sum.parts = 0
  }
}

/** At most 40 characters, without those that are not safe to show. */
function plain(text: string): string {
  return text
    .replaceAll(/[^\w/+.-]+/g, ' ')
    .slice(0, 40)
    .trim()
}
