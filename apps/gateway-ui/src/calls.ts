/**
 * Makes the calls of the device. Answers are not validated: they come from our own agent, which sends only what the
 * contract declares.
 */
import { callAddress, type DeviceCall, type ErrorBody, type InputOf, type ResponseOf } from '@hedgerow/contract'
import { DEVICE_API_BASE, LIVE_BOXES_HEADER, PICTURE_AGE_HEADER } from '@hedgerow/contract'
import type { LiveBox } from '@hedgerow/contract/device-interface'
import type { LoadedPicture } from '@hedgerow/ui/live-picture.tsx'
import { deviceCalls } from 'virtual:device-calls'

/** A refusal by the device, or no answer (code `unreachable`). `message` is for the person. */
export class DeviceError extends Error {
  override name = 'DeviceError'
  readonly code: string
  /** The sentence of each field with an error. */
  readonly fieldErrors: Readonly<Record<string, string>>

  constructor(code: string, message: string, fieldErrors: Readonly<Record<string, string>> = {}) {
    super(message)
    this.code = code
    this.fieldErrors = fieldErrors
  }
}

type RequestOf<C extends DeviceCall> = InputOf<C> & { signal?: AbortSignal }

const ANSWER_WITHIN_MS = 30_000

/** Throws DeviceError; an aborted call rejects with the signal's reason. */
export async function ask<C extends DeviceCall>(call: C, request: RequestOf<C>): Promise<ResponseOf<C>> {
  const answer = await send(call, request)
  return (call.response === null ? undefined : await answer.json()) as ResponseOf<C>
}

/** The picture in the answer of a call. */
export async function askPicture<C extends DeviceCall>(call: C, request: RequestOf<C>): Promise<LoadedPicture> {
  return pictureIn(await send(call, request))
}

/** The newest picture of a camera, with the objects in it. */
export async function askLatest(name: string, signal: AbortSignal): Promise<LoadedPicture & { boxes: LiveBox[] }> {
  const answer = await send(deviceCalls.readLatest, { params: { name }, signal })
  const boxes = answer.headers.get(LIVE_BOXES_HEADER)
  return {
    ...(await pictureIn(answer)),
    boxes: boxes === null ? [] : (JSON.parse(decodeURIComponent(boxes)) as LiveBox[]),
  }
}

async function pictureIn(answer: Response): Promise<LoadedPicture> {
  const takenAt = Date.now() - Number(answer.headers.get(PICTURE_AGE_HEADER) ?? 0)
  return { picture: await answer.blob(), takenAt }
}

/** Throws a DeviceError when there is no clip: a `<video>` would not show why. */
export async function checkClip(id: string, signal: AbortSignal): Promise<true> {
  const first = await send(deviceCalls.readClip, { params: { id }, range: 'bytes=0-15', signal })
  await first.body?.cancel()
  return true
}

/** The address of a picture or a clip that the browser loads itself. */
export const addressOf = (call: DeviceCall, params: Record<string, string>): string =>
  callAddress(DEVICE_API_BASE, call, params)

type Request = {
  params?: Record<string, string>
  query?: Record<string, unknown>
  body?: unknown
  /** A range of bytes: RFC 9110 §14.2. */
  range?: string
  signal?: AbortSignal
}

async function send(call: DeviceCall, { params, query, body, range, signal }: Request): Promise<Response> {
  const late = AbortSignal.timeout(ANSWER_WITHIN_MS)
  let answer: Response
  try {
    answer = await fetch(callAddress(DEVICE_API_BASE, call, params, query), {
      method: call.method,
      headers: {
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(range !== undefined && { range }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: signal === undefined ? late : AbortSignal.any([signal, late]),
    })
  } catch (error) {
    if (signal?.aborted === true) throw error
    throw new DeviceError('unreachable', 'The device does not answer. It may be restarting.')
  }
  if (answer.ok) return answer
  const problem = (await answer.json().catch(() => ({}))) as Partial<ErrorBody>
  throw new DeviceError(
    problem.error ?? 'unknown',
    problem.message ?? `The device answered with status ${answer.status}. Try again in a moment.`,
    problem.fieldErrors,
  )
}

/** The message of any thrown value, for a person. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : 'Something went wrong. Try again.'
}
