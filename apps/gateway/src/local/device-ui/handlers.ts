/** The handlers of the calls of the device's own interface. */
import { LIVE_BOXES_HEADER, type DeviceUpdates, type Heartbeat } from '@hedgerow/contract'
import type { DeviceCalls } from '@hedgerow/contract/device-interface'
import type { Handlers } from '../../calls/dispatcher.ts'
import { Refusal } from '../../calls/errors.ts'
import { createParts, latestPicture, picture, type PartsOptions } from '../../calls/parts.ts'
import type { Trial, Trials } from '../../cameras/trials.ts'
import type { Deterrents } from '../../deterrents/deterrents.ts'
import { toldEntry } from '../../deterrents/told-entry.ts'
import type { WatchedDeviceFile } from '../../device-file/device-file.ts'
import { cameraEdits, hasCamera, newCameraEdits } from '../../device-file/edit-camera.ts'
import { TooManyChecks, withoutPath, type DeviceFileEditor } from '../../device-file/editor.ts'
import type { FileError } from '../../device-file/yaml.ts'
import { deviceFileJsonSchema } from '../../device-file/schema.ts'
import type { GatewayState } from '../../hub/gateway-state.ts'
import type { Learning } from '../../learning/learning.ts'
import { ruleSentence } from '../../rules/sentence.ts'
import type { Sources } from '../../sources/sources.ts'
import { createCameraSearch } from './camera-search.ts'
import { createDeterrentSetup, type DeterrentSetupOptions } from './deterrent-setup.ts'
import { LOOK_WITH_DETECTOR, type Detector } from './detector.ts'
import { createFileChanges, notWritten } from './file-changes.ts'
import { createNotes } from './notes.ts'
import { createRuleTest, lastDay } from './rule-test.ts'
import type { Sessions } from './sessions.ts'
import { askerOf, PASSWORD_VISITOR, signedIn, type Visitor } from './visitor.ts'

export type HandlersOptions = Omit<PartsOptions, 'deterrents'> & {
  deterrents: PartsOptions['deterrents'] & Pick<Deterrents, 'ledger' | 'note'>
  file: Pick<WatchedDeviceFile, 'current' | 'conceal' | 'look'>
  editor: DeviceFileEditor
  learning: Pick<Learning, 'report' | 'begin' | 'undo' | 'dismissMask'> & { names: Pick<Learning['names'], 'undo'> }
  sources: Pick<Sources, 'boxes' | 'overlaysOf' | 'problemsOf' | 'viewOf'>
  trials: Trials
  detector: Detector
  state(): GatewayState
  updates(): DeviceUpdates
  /** The states of all parts of the device. */
  parts(): Pick<Heartbeat, 'cameras' | 'detectors' | 'deterrents' | 'disarmed' | 'problems' | 'snoozes' | 'timeZone'>
  sessions: Sessions
} & Pick<DeterrentSetupOptions, 'trial' | 'surroundings'>

const DAY_MS = 86_400_000
/** Enough for a busy day, newest first; the page counts them again for each step of a slider. */
const CANDIDATES_MAX = 3_000

/** The parts of gateway.yaml that decide what fires. */
const OF_RULES: ReadonlySet<unknown> = new Set(['rules', 'deterrents', 'site'])

/** Who calls; undefined before signing in. */
export type UiCaller = Visitor | undefined

export function createHandlers(options: HandlersOptions): Handlers<DeviceCalls, UiCaller> {
  const { record, deterrents, sessions, file, editor, learning, trials, sources, detector } = options
  const ruleTest = createRuleTest({ file: file.current, record })
  const parts = createParts(options)
  const notes = createNotes(deterrents.note)
  const files = createFileChanges({ ...options, notes })
  const searchCameras = createCameraSearch()
  const setup = createDeterrentSetup({ ...options, confirm: files.confirm, fire: parts.fire })

  function trialOf(id: string): Trial {
    const trial = trials.find(id)
    if (!trial) throw new Refusal('trial_not_found')
    return trial
  }

  return {
    async getSession({ caller, request }) {
      const { visit, ...visitor } = signedIn(caller)
      const confirmed = visit === undefined || (await sessions.isConfirmed(request, visit, { isUse: false }))
      return { ...visitor, confirmed }
    },
    async signIn({ body: { password }, request, response }) {
      response.setHeader('set-cookie', await notes.checked({ request }, sessions.signIn(request, password)))
      return { ...PASSWORD_VISITOR, confirmed: true }
    },
    signOut({ request, response }) {
      response.setHeader('set-cookie', sessions.signOut(request))
    },
    getStatus() {
      const { deviceToken: _token, claimUrl: _url, detectionsDropped: _dropped, ...state } = options.state()
      const { cameras, ...device } = options.parts()
      const { eye } = file.current().sources
      return {
        ...state,
        ...device,
        updates: options.updates(),
        cameras: cameras.map((camera) => ({
          ...camera,
          problems: sources.problemsOf(camera.name),
          overlays: [...(sources.overlaysOf(camera.name)?.boxes() ?? [])],
        })),
        model: eye ? file.conceal(eye.model) : null,
        armed: deterrents.isArmed(),
      }
    },
    async readLatest({ params: { name }, query: { height }, signal, response }) {
      const picture = await parts.latest(name, { height, signal })
      response.setHeader(LIVE_BOXES_HEADER, encodeURIComponent(JSON.stringify(sources.boxes(name))))
      return picture
    },
    readView: ({ params: { name, moment } }) => picture(Promise.resolve(sources.viewOf(name)?.pictures()?.[moment])),
    acceptView({ params: { name } }) {
      const view = sources.viewOf(name)
      if (!view) throw new Refusal('no_picture')
      view.accept()
    },
    lookAtOverlays({ params: { name } }) {
      const overlays = sources.overlaysOf(name)
      if (!overlays) throw new Refusal('camera_not_found')
      overlays.lookAgain()
    },
    listDetections: ({ query: { before, ...filter } }) =>
      record.recent({ ...filter, before: before === undefined ? undefined : Date.parse(before) }),
    readLearning: () => learning.report(),
    undoLearning: ({ caller, body }) => ({ undone: learning.undo(body, signedIn(caller).name) }),
    learnNow: () => learning.begin(),
    undoNames: ({ caller, body }) => ({ undone: learning.names.undo(body.number, signedIn(caller).name) }),
    dismissMask({ body: { camera, id } }) {
      if (!learning.dismissMask(camera, id)) throw new Refusal('proposal_not_found')
    },
    readSnapshot: ({ params: { id }, query: { boxed }, signal }) =>
      parts.snapshot(id, { boxed: boxed === 'true', signal }),
    readClip: ({ params: { id }, ...wanted }) => parts.clip(id, wanted),
    async fireDeterrent({ caller, params: { name }, body }) {
      const { firing } = await parts.fire(name, body.seconds, askerOf(signedIn(caller)))
      return { seconds: firing.seconds, until: firing.until }
    },
    stopDeterrent: ({ caller, params: { name } }) => parts.stop(name, askerOf(signedIn(caller))),
    arm: ({ caller }) => parts.arm(askerOf(signedIn(caller))),
    disarm: ({ caller, query: { lasts } }) => parts.disarm(askerOf(signedIn(caller)), lasts),
    snooze: ({ caller, body }) => parts.snooze({ kind: 'snooze', ...body }, askerOf(signedIn(caller))),
    endSnooze: ({ caller, body }) => parts.endSnooze({ kind: 'snooze', ...body }, askerOf(signedIn(caller))),
    maintain: ({ caller, body }) => parts.snooze({ kind: 'maintenance', ...body }, askerOf(signedIn(caller))),
    endMaintenance: ({ caller }) => parts.endSnooze({ kind: 'maintenance' }, askerOf(signedIn(caller))),
    listLedger: async ({ query }) => (await deterrents.ledger(query)).map(toldEntry),
    readRules() {
      const { fired, reasons } = ruleTest()
      return file.current().rules.map((rule) => ({
        name: rule.name,
        enabled: rule.enabled,
        sentence: file.conceal(ruleSentence(rule)),
        fired: fired[rule.name] ?? 0,
        reason: reasons[rule.name] === undefined ? null : file.conceal(reasons[rule.name]!),
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
    readFileSchema: deviceFileJsonSchema,
    async checkFile({ caller, body: { text } }) {
      return editor.check(text, valuesFor(signedIn(caller))).catch((error: unknown) => {
        throw error instanceof TooManyChecks ? new Refusal('too_many_requests') : error
      })
    },
    saveFile: (input) => files.save(input, () => editor.save(input.body.text, input.body.hash)),
    readSettings: files.readSettings,
    changeSettings: (input) => files.save(input, () => editor.change(() => input.body.edits, input.body.hash)),
    async previewSettings({ caller, body: { edits, hash } }) {
      const isAboutRules = edits.some(({ path: [part] }) => OF_RULES.has(part))
      const recent = isAboutRules ? lastDay(record) : undefined
      const found = await editor.preview(edits, hash, valuesFor(signedIn(caller)), recent).catch((error: unknown) => {
        throw error instanceof TooManyChecks ? new Refusal('too_many_requests') : notWritten(error)
      })
      if ('refused' in found) throw new Refusal('file_changed')
      const inFields = ({ path = [], ...error }: FileError) => ({ path, message: withoutPath({ path, ...error }) })
      return {
        errors: found.errors.map(inFields),
        warnings: found.warnings.map(inFields),
        rehearsal: found.rehearsal ?? null,
      }
    },
    async addCamera(input) {
      const { name, url, hash } = input.body
      await files.save(input, () =>
        editor.change((settings) => {
          if (hasCamera(settings, name)) throw new Refusal('camera_exists')
          return newCameraEdits(settings, name, url)
        }, hash),
      )
      return files.readCamera(name)
    },
    async tryCamera(input) {
      await files.confirm(input)
      const camera = await editor.camera(input.body.url)
      if ('errors' in camera)
        throw new Refusal('invalid_request', {
          fieldErrors: { url: camera.errors[0] ? withoutPath(camera.errors[0]) : NO_ADDRESS },
        })
      return { id: await trials.begin(camera.settings) }
    },
    readTrial({ params: { id } }) {
      const { state, problems } = trialOf(id)
      const { state: connection, fps } = state()
      return { isOnline: connection === 'online', fps, problems: problems() }
    },
    readTrialPicture: ({ params: { id } }) => latestPicture(trialOf(id).latest()),
    async findCameras(input) {
      const { at, user, cameraPassword } = input.body
      await files.confirm(input)
      return searchCameras({ at, user, password: cameraPassword })
    },
    readDeterrentKinds: () => setup.kinds(),
    findDeterrents: setup.find,
    readOutputs: (input) => setup.outputs(input, input.body),
    tryDeterrent: (input) => setup.fireTrial(input, input.body),
    readDetector: () => detector.read(),
    async addDetector(input) {
      await files.confirm(input)
      return detector.add(input.body.acceptedLicence)
    },
    async chooseDetector(input) {
      await files.save(input, () => editor.change(() => LOOK_WITH_DETECTOR, input.body.hash))
      return detector.read()
    },
    listCandidates: ({ params: { name } }) =>
      record.candidates.list(name, { since: Date.now() - DAY_MS, limit: CANDIDATES_MAX }),
    readCamera: ({ params: { name } }) => files.readCamera(name),
    async changeCamera(input) {
      const { name } = input.params
      const { change, hash } = input.body
      await files.save(input, () => editor.change((settings) => cameraEdits(settings, name, change), hash))
      return files.readCamera(name)
    },
  }
}

/** A person whom only the hub knows learns no secret of the device. */
function valuesFor({ via }: Visitor): 'read' | 'hidden' {
  return via === 'device' ? 'read' : 'hidden'
}

const NO_ADDRESS = 'This is no address of a camera.'
