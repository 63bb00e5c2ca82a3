/** What each call of the device's own interface does. */
import type { Heartbeat } from '@hedgerow/contract'
import type { DeviceCalls } from '@hedgerow/contract/device-interface'
import type { Handlers } from '../calls/dispatcher.ts'
import { Refusal } from '../calls/errors.ts'
import { createParts, type PartsOptions } from '../calls/parts.ts'
import type { Deterrents } from '../deterrents/deterrents.ts'
import { toldEntry } from '../deterrents/told-entry.ts'
import type { WatchedDeviceFile } from '../device-file/device-file.ts'
import type { DeviceFileEditor } from '../device-file/editor.ts'
import type { GatewayState } from '../gateway-state.ts'
import { inWords } from '../hub/failure.ts'
import { ruleSentence } from '../rules/sentence.ts'
import { createRuleTest } from './rule-test.ts'
import type { Sessions } from './sessions.ts'
import { askerOf, PASSWORD_VISITOR, type Visitor } from './visitor.ts'

export type HandlersOptions = Omit<PartsOptions, 'deterrents'> & {
  deterrents: PartsOptions['deterrents'] & Pick<Deterrents, 'ledger'>
  file: Pick<WatchedDeviceFile, 'current' | 'look'>
  editor: DeviceFileEditor
  state(): GatewayState
  /** The states of all parts of the device. */
  parts(): Pick<Heartbeat, 'cameras' | 'detectors' | 'deterrents' | 'problems'>
  sessions: Sessions
}

/** Who calls; undefined before signing in. */
export type UiCaller = Visitor | undefined

export function createHandlers(options: HandlersOptions): Handlers<DeviceCalls, UiCaller> {
  const { record, deterrents, sessions, file, editor } = options
  const ruleTest = createRuleTest({ file: file.current, record })
  const parts = createParts(options)

  return {
    getSession: ({ caller }) => signedIn(caller),
    async signIn({ body: { password }, request, response }) {
      response.setHeader('set-cookie', await sessions.signIn(request, password))
      return PASSWORD_VISITOR
    },
    signOut({ request, response }) {
      response.setHeader('set-cookie', sessions.signOut(request))
    },
    getStatus() {
      const { deviceToken: _token, claimUrl: _url, detectionsDropped: _dropped, ...state } = options.state()
      return { ...state, ...options.parts(), armed: deterrents.isArmed() }
    },
    readLatest: ({ params: [name = ''], query: { height }, signal }) => parts.latest(name, { height, signal }),
    listDetections: ({ query: { before, ...filter } }) =>
      record.recent({ ...filter, before: before === undefined ? undefined : Date.parse(before) }),
    readSnapshot: ({ params: [id = ''], query: { boxed }, signal }) =>
      parts.snapshot(id, { boxed: boxed === 'true', signal }),
    readClip: ({ params: [id = ''], ...wanted }) => parts.clip(id, wanted),
    async fireDeterrent({ caller, params: [name = ''], body }) {
      const { firing } = await parts.fire(name, body.seconds, askerOf(signedIn(caller)))
      return { seconds: firing.seconds, until: firing.until }
    },
    stopDeterrent: ({ caller, params: [name = ''] }) => parts.stop(name, askerOf(signedIn(caller))),
    arm: ({ caller }) => parts.arm(askerOf(signedIn(caller))),
    disarm: ({ caller }) => parts.disarm(askerOf(signedIn(caller))),
    listLedger: async ({ query }) => (await deterrents.ledger(query)).map(toldEntry),
    readRules() {
      const { fired } = ruleTest()
      return file.current().rules.map((rule) => ({
        name: rule.name,
        enabled: rule.enabled,
        sentence: ruleSentence(rule),
        fired: fired[rule.name] ?? 0,
      }))
    },
    testRules: () =>
      ruleTest()
        .detections.map(({ detection: { id, label, camera, score, startedAt }, answers }) => ({
          id,
          label,
          camera,
          score,
          startedAt,
          answers,
        }))
        .toReversed(),
    readFile: () => editor.read(),
    checkFile: ({ body: { text } }) => editor.check(text),
    async saveFile({ caller, request, body: { text, hash, password } }) {
      if (signedIn(caller).via === 'hub') {
        if (password === undefined) throw new Refusal('password_required')
        await sessions.verify(request, password)
      }
      const saved = await editor.save(text, hash).catch((error: unknown) => {
        throw new Refusal('file_unwritable', { message: `The file cannot be written: ${inWords(error)}.` })
      })
      if ('refused' in saved) throw new Refusal('file_changed')
      if ('errors' in saved) throw new Refusal('file_invalid', { errors: saved.errors })
      await file.look()
      return saved
    },
  }
}

function signedIn(caller: UiCaller): Visitor {
  if (!caller) throw new Refusal('not_signed_in')
  return caller
}
