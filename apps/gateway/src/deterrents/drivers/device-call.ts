import { request as httpRequest, type IncomingHttpHeaders } from 'node:http'
import { request as httpsRequest } from 'node:https'
import { GatheredBytes } from '@hedgerow/http'
import { readJson } from '@hedgerow/contract/bounded-json'
import type { z } from 'zod'
import { DeviceRefusal } from './driver.ts'

/** Larger than any device's answer to a switching call. */
const ANSWER_LIMIT_BYTES = 64 * 1024

export type DeviceCall = {
  url: string | URL
  method?: string
  headers?: Record<string, string>
  body?: string
  signal: AbortSignal
  /** When false, accepts any certificate. */
  verifyCertificate?: boolean
}

export type DeviceAnswer = { status: number; headers: IncomingHttpHeaders; text: string }

/**
 * One HTTP call to a device, on a new connection: on a reused one the request could be lost or arrive much later.
 * Redirects are not followed. Rejects with words that hold no address, because an address may hold a password.
 */
export function callDevice(call: DeviceCall): Promise<DeviceAnswer> {
  const { method = 'GET', headers, body, signal } = call
  const url = new URL(call.url)
  const request = url.protocol === 'https:' ? httpsRequest : httpRequest
  const { promise, resolve, reject } = Promise.withResolvers<DeviceAnswer>()
  const outgoing = request(url, {
    method,
    headers: {
      connection: 'close',
      ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
      ...headers,
    },
    agent: false,
    signal,
    ...(call.verifyCertificate === false && { rejectUnauthorized: false }),
  })
  const fail = (error: Error): void => {
    reject(new Error(inWords(error)))
    outgoing.destroy()
  }
  outgoing.on('error', fail)
  // Node closes without an error at an unrequested 101 answer.
  outgoing.on('close', () => fail(new Error("the device's answer is incomplete")))
  outgoing.on('response', (incoming) => {
    const answer = new GatheredBytes()
    incoming.on('error', fail)
    incoming.on('data', (chunk: Buffer) => {
      if (answer.length + chunk.length > ANSWER_LIMIT_BYTES) fail(new Error("the device's answer is too long"))
      else answer.add(chunk)
    })
    incoming.on('end', () =>
      resolve({
        status: incoming.statusCode ?? 0,
        headers: incoming.headers,
        text: answer.take().toString('utf8'),
      }),
    )
  })
  outgoing.end(body)
  return promise
}

/** The answer as JSON of `schema`. Throws DeviceRefusal for anything else. */
export function readAnswer<S extends z.ZodType>({ status, text }: DeviceAnswer, schema: S): z.output<S> {
  if (status !== 200) throw new DeviceRefusal(`the device answered ${status}`)
  const parsed = schema.safeParse(jsonOf(text))
  if (!parsed.success) throw new DeviceRefusal("the device's answer is not understood")
  return parsed.data
}

/** Undefined for what is no JSON. */
export function jsonOf(text: string): unknown {
  const read = readJson(Buffer.from(text))
  return read.problem ? undefined : read.value
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the device refused the connection',
  ECONNRESET: 'the device ended the connection',
  EHOSTUNREACH: 'the device cannot be reached',
  ENETUNREACH: 'the device cannot be reached',
  ETIMEDOUT: 'the device does not answer',
  ENOTFOUND: "the device's name is not known",
  EAI_AGAIN: "the device's name cannot be looked up",
}

function inWords(error: Error): string {
  if (error.name === 'AbortError') return 'the call was broken off'
  const { code } = error as NodeJS.ErrnoException
  if (code === undefined) return error.message.startsWith('the device') ? error.message : 'the call failed'
  return WORDS[code] ?? `the call failed (${code})`
}
