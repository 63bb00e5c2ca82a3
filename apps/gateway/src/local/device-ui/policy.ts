import type { DeviceCalls } from '@hedgerow/contract/device-interface'

/** Who may make a call; the roles are those that the hub's own commands need. */
export type Access = 'anybody' | 'everybody who signed in' | 'managers'

export const policy: Readonly<Record<keyof DeviceCalls, Access>> = {
  signIn: 'anybody',
  signOut: 'anybody',
  getSession: 'everybody who signed in',
  getStatus: 'everybody who signed in',
  readLatest: 'everybody who signed in',
  listDetections: 'everybody who signed in',
  readSnapshot: 'everybody who signed in',
  readClip: 'everybody who signed in',
  stopDeterrent: 'everybody who signed in',
  disarm: 'everybody who signed in',
  listLedger: 'everybody who signed in',
  readRules: 'everybody who signed in',
  testRules: 'everybody who signed in',
  readCamera: 'everybody who signed in',
  readLearning: 'everybody who signed in',
  listCandidates: 'everybody who signed in',
  arm: 'managers',
  fireDeterrent: 'managers',
  readFile: 'managers',
  checkFile: 'managers',
  saveFile: 'managers',
  changeCamera: 'managers',
  addCamera: 'managers',
  tryCamera: 'managers',
  readTrial: 'managers',
  readTrialPicture: 'managers',
  findCameras: 'managers',
  readDetector: 'managers',
  addDetector: 'managers',
  chooseDetector: 'managers',
  undoLearning: 'managers',
  dismissMask: 'managers',
}
