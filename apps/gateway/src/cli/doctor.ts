/** Looks for what is wrong on this device, whether the agent runs or not. Changes nothing. */
import { request as httpRequest } from 'node:http'
import { access, constants, statfs } from 'node:fs/promises'
import { request as httpsRequest } from 'node:https'
import type { z } from 'zod'
import { deviceFilePath, type Config } from '../config.ts'
import { checkDeviceFile } from '../device-file/check.ts'
import { inWords } from '../kernel/failure.ts'
import { explainFileError } from '../kernel/startup-error.ts'
import { localCalls } from '@hedgerow/contract/local-api'
import { callAgent } from './call-agent.ts'
import type { Outcome } from './command-line.ts'

export type Finding = {
  check: 'agent' | 'version' | 'file' | 'disk' | 'hub' | 'clock' | 'tunnel' | 'camera' | 'deterrent' | 'problem'
  state: 'ok' | 'warn' | 'FAIL'
  text: string
}

type Status = z.output<typeof localCalls.getStatus.response>

const MIB = 1024 ** 2
const SPACE_NEEDED_BYTES = 50 * MIB
const SPACE_WANTED_BYTES = 500 * MIB
const ANSWER_TIMEOUT_MS = 5_000
/** The header has whole seconds, and the answer takes a moment. */
const CLOCK_WARN_MS = 10_000
/** The hub takes no signed call of a device that is further off. */
const CLOCK_FAIL_MS = 60_000
const STATES = { done: 'ok', waiting: 'warn', failed: 'FAIL' } as const

export async function doctor(config: Config, environment: NodeJS.ProcessEnv): Promise<Outcome> {
  const findings = await examine(config, environment)
  const lines = findings.map(({ check, state, text }) => `${state.padEnd(4)}  ${check.padEnd(9)}  ${text}`)
  return { text: lines.join('\n'), isDone: findings.every(({ state }) => state !== 'FAIL') }
}

export async function examine(config: Config, environment: NodeJS.ProcessEnv): Promise<Finding[]> {
  const { status, silence } = await statusOf(config.dataDir)
  const hubUrl = config.hubUrl?.href ?? status?.hubUrl ?? undefined
  return [
    silence === undefined
      ? { check: 'agent', state: 'ok', text: 'runs' }
      : { check: 'agent', state: 'FAIL', text: silence },
    ...(status ? versionOf(status) : []),
    await fileOf(config, environment),
    await diskOf(config.dataDir),
    ...(await hubOf(hubUrl)),
    ...(status ? partsOf(status) : []),
  ]
}

/** The status of the agent that runs, or why there is none. */
export async function statusOf(dataDir: string): Promise<{ status?: Status; silence?: string }> {
  let status: Status | undefined
  try {
    const { text } = await callAgent(dataDir, localCalls.getStatus, (answer) => {
      status = answer
      return { text: '', isDone: true }
    })
    return status ? { status } : { silence: text }
  } catch (error) {
    const silence = explainFileError(error)
    if (silence === undefined) throw error
    return { silence }
  }
}

function versionOf({ version, updates }: Status): Finding[] {
  const { failure, state, message } = updates
  if (failure)
    return [
      { check: 'version', state: 'warn', text: `${version}; ${failure.version ?? 'a newer one'}: ${failure.message}` },
    ]
  const more = state === 'current' ? '' : `, an update: ${[state, message].filter((part) => part !== '').join(', ')}`
  return [{ check: 'version', state: state === 'failed' ? 'warn' : 'ok', text: `${version}${more}` }]
}

async function fileOf(config: Config, environment: NodeJS.ProcessEnv): Promise<Finding> {
  const { dataDir, uiTarget, cameras: givenCameras } = config
  const options = { dataDir, environment, uiTarget, givenCameras }
  const { text, isValid } = await checkDeviceFile(deviceFilePath(config), options)
  const [first = '', ...others] = text.split('\n')
  if (!isValid) return { check: 'file', state: 'FAIL', text }
  return { check: 'file', state: others.length > 0 ? 'warn' : 'ok', text: others.join('\n') || first }
}

async function diskOf(dataDir: string): Promise<Finding> {
  try {
    await access(dataDir, constants.R_OK | constants.W_OK)
    const { bavail, bsize } = await statfs(dataDir)
    const text = `${Math.floor((bavail * bsize) / MIB).toLocaleString('en')} MiB free for ${dataDir}`
    if (bavail * bsize < SPACE_NEEDED_BYTES) return { check: 'disk', state: 'FAIL', text }
    return { check: 'disk', state: bavail * bsize < SPACE_WANTED_BYTES ? 'warn' : 'ok', text }
  } catch (error) {
    return { check: 'disk', state: 'FAIL', text: `${dataDir}: ${inWords(error)}` }
  }
}

/** Whether the hub answers this device, and how far the two clocks are apart. */
async function hubOf(hubUrl: string | undefined): Promise<Finding[]> {
  if (hubUrl === undefined)
    return [{ check: 'hub', state: 'warn', text: 'no address: set --hub or GATEWAY_HUB_URL, or let DNS name it' }]
  const url = new URL('/livez', hubUrl)
  let answer: { status: number; date: string | undefined }
  try {
    answer = await probe(url)
  } catch (error) {
    return [{ check: 'hub', state: 'FAIL', text: `${url.origin} does not answer: ${inWords(error)}` }]
  }
  if (answer.status !== 200)
    return [{ check: 'hub', state: 'FAIL', text: `${url.origin} answers ${answer.status}: is this a hub?` }]
  const offMs = Date.now() - Date.parse(answer.date ?? '')
  const text = Number.isNaN(offMs) ? 'the hub tells no time' : `${Math.round(Math.abs(offMs) / 1_000)} s off the hub's`
  return [
    { check: 'hub', state: 'ok', text: `${url.origin} answers` },
    {
      check: 'clock',
      state: Math.abs(offMs) > CLOCK_FAIL_MS ? 'FAIL' : Math.abs(offMs) > CLOCK_WARN_MS ? 'warn' : 'ok',
      text: Math.abs(offMs) > CLOCK_WARN_MS ? `${text}: set it, with timedatectl set-ntp true for example` : text,
    },
  ]
}

function probe(url: URL): Promise<{ status: number; date: string | undefined }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; date: string | undefined }>()
  const send = url.protocol === 'https:' ? httpsRequest : httpRequest
  const signal = AbortSignal.timeout(ANSWER_TIMEOUT_MS)
  // Nothing secret is sent; whether the hub is the right one, the agent checks by its key.
  const outgoing = send(url, { agent: false, rejectUnauthorized: false, signal }, (answer) => {
    resolve({ status: answer.statusCode ?? 0, date: answer.headers.date })
    answer.destroy()
  })
  outgoing.on('error', (error) => reject(signal.aborted ? new Error('no answer in 5 s') : error))
  outgoing.end()
  return promise
}

function partsOf({ conditions, cameras, deterrents, problems, detectionsWaiting }: Status): Finding[] {
  const blocked = conditions.find(({ state }) => state !== 'done')
  return [
    blocked
      ? { check: 'tunnel', state: STATES[blocked.state], text: `${blocked.label}: ${blocked.detail || 'not yet'}` }
      : { check: 'tunnel', state: 'ok', text: `up; ${detectionsWaiting} detections wait for the hub` },
    ...cameras.map(({ name, state }): Finding => ({
      check: 'camera',
      // Its owner switched off a disabled one.
      state: state === 'online' || state === 'disabled' ? 'ok' : 'FAIL',
      text: `${name}: ${state}`,
    })),
    ...deterrents.map(({ name, state }): Finding => ({
      check: 'deterrent',
      state: state === 'fault' ? 'FAIL' : 'ok',
      text: `${name}: ${state}`,
    })),
    ...problems.map((text): Finding => ({ check: 'problem', state: 'warn', text })),
  ]
}
