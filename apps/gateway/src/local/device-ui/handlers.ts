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
import { addCamera, editCamera, hasCamera } from '../../device-file/edit-camera.ts'
import { TooManyChecks, type DeviceFileEditor } from '../../device-file/editor.ts'
import type { GatewayState } from '../../hub/gateway-state.ts'
import type { Learning } from '../../learning/learning.ts'
import { ruleSentence } from '../../rules/sentence.ts'
import type { Sources } from '../../sources/sources.ts'
import { createCameraSearch } from './camera-search.ts'
import { lookWithDetector, type Detector } from './detector.ts'
import { createFileChanges } from './file-changes.ts'
import { createRuleTest } from './rule-test.ts'
import type { Sessions } from './sessions.ts'
import { askerOf, PASSWORD_VISITOR, type Visitor } from './visitor.ts'

export type HandlersOptions = Omit<PartsOptions, 'deterrents'> & {
  deterrents: PartsOptions['deterrents'] & Pick<Deterrents, 'ledger'>
  file: Pick<WatchedDeviceFile, 'current' | 'conceal' | 'look'>
  editor: DeviceFileEditor
  learning: Pick<Learning, 'report' | 'undo' | 'dismissMask'>
  sources: Pick<Sources, 'boxes' | 'problemsOf' | 'viewOf'>
  trials: Trials
  detector: Detector
  state(): GatewayState
  updates(): DeviceUpdates
  /** The states of all parts of the device. */
  parts(): Pick<Heartbeat, 'cameras' | 'detectors' | 'deterrents' | 'disarmed' | 'problems' | 'timeZone'>
  sessions: Sessions
}

const DAY_MS = 86_400_000
/** Enough for a busy day, newest first; the page counts them again for each step of a slider. */
const CANDIDATES_MAX = 3_000

/** Who calls; undefined before signing in. */
export type UiCaller = Visitor | undefined

export function createHandlers(options: HandlersOptions): Handlers<DeviceCalls, UiCaller> {
  const { record, deterrents, sessions, file, editor, learning, trials, sources, detector } = options
  const ruleTest = createRuleTest({ file: file.current, record })
  const parts = createParts(options)
  const files = createFileChanges(options)
  const searchCameras = createCameraSearch()

  function trialOf(id: string): Trial {
    const trial = trials.find(id)
    if (!trial) throw new Refusal('trial_not_found')
    return trial
  }

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
      const { cameras, ...device } = options.parts()
      return {
        ...state,
        ...device,
        updates: options.updates(),
        cameras: cameras.map((camera) => ({ ...camera, problems: sources.problemsOf(camera.name) })),
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
    listDetections: ({ query: { before, ...filter } }) =>
      record.recent({ ...filter, before: before === undefined ? undefined : Date.parse(before) }),
    readLearning: () => learning.report(),
    undoLearning: ({ caller, body }) => ({ undone: learning.undo(body, signedIn(caller).name) }),
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
    listLedger: async ({ query }) => (await deterrents.ledger(query)).map(toldEntry),
    readRules() {
      const { fired } = ruleTest()
      return file.current().rules.map((rule) => ({
        name: rule.name,
        enabled: rule.enabled,
        sentence: file.conceal(ruleSentence(rule)),
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
    async checkFile({ caller, body: { text } }) {
      // A person whom only the hub knows learns no secret of the device.
      const values = signedIn(caller).via === 'device' ? 'read' : 'hidden'
      return editor.check(text, values).catch((error: unknown) => {
        throw error instanceof TooManyChecks ? new Refusal('too_many_requests') : error
      })
    },
    saveFile: ({ caller, request, body: { text, hash, password } }) =>
      files.save({ visitor: signedIn(caller), request, password }, () => editor.save(text, hash)),
    async addCamera({ caller, request, body: { name, url, hash, password } }) {
      await files.save({ visitor: signedIn(caller), request, password }, () =>
        editor.change((text) => {
          if (hasCamera(text, name)) throw new Refusal('camera_exists')
          return addCamera(text, name, url)
        }, hash),
      )
      return files.readCamera(name)
    },
    async tryCamera({ caller, request, body: { url, password } }) {
      await files.confirm({ visitor: signedIn(caller), request, password })
      const camera = await editor.camera(url)
      if ('errors' in camera)
        throw new Refusal('invalid_request', { fieldErrors: { url: withoutPath(camera.errors[0]?.message) } })
      return { id: await trials.begin(camera.settings) }
    },
    readTrial({ params: { id } }) {
      const { state, problems } = trialOf(id)
      const { state: connection, fps } = state()
      return { isOnline: connection === 'online', fps, problems: problems() }
    },
    readTrialPicture: ({ params: { id } }) => latestPicture(trialOf(id).latest()),
    async findCameras({ caller, request, body: { at, user, cameraPassword, password } }) {
      await files.confirm({ visitor: signedIn(caller), request, password })
      return searchCameras({ at, user, password: cameraPassword })
    },
    readDetector: () => detector.read(),
    async addDetector({ caller, request, body: { acceptedLicence, password } }) {
      await files.confirm({ visitor: signedIn(caller), request, password })
      return detector.add(acceptedLicence)
    },
    async chooseDetector({ caller, request, body: { hash, password } }) {
      await files.save({ visitor: signedIn(caller), request, password }, () => editor.change(lookWithDetector, hash))
      return detector.read()
    },
    listCandidates: ({ params: { name } }) =>
      record.candidates.list(name, { since: Date.now() - DAY_MS, limit: CANDIDATES_MAX }),
    readCamera: ({ params: { name } }) => files.readCamera(name),
    async changeCamera({ caller, request, params: { name }, body: { change, hash, password } }) {
      await files.save({ visitor: signedIn(caller), request, password }, () =>
        editor.change((text) => editCamera(text, name, change), hash),
      )
      return files.readCamera(name)
    },
  }
}

function signedIn(caller: UiCaller): Visitor {
  if (!caller) throw new Refusal('not_signed_in')
  return caller
}

/** The message leaves out the path: the field has a label of its own. */
function withoutPath(message = 'This is no address of a camera.'): string {
  return message.replace(/^cameras\.a\.url: /, '')
}
