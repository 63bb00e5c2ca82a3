/**
 * Every reason for which the agent on a device refuses a call, with its HTTP status and the sentence for people. A hub
 * goes by the status.
 */
export const deviceErrorTable = {
  not_found: { status: 404, message: 'There is no such call.' },
  detection_not_found: { status: 404, message: 'The device has no detection of this id.' },
  deterrent_not_found: { status: 404, message: 'gateway.yaml has no deterrent of this name.' },
  no_picture: { status: 404, message: 'The device has no picture of this.' },
  clip_not_finished: { status: 409, message: 'It is still being filmed. Ask again some seconds after it has ended.' },
  method_not_allowed: { status: 405, message: 'This call takes another method.' },
  unsupported_media_type: { status: 415, message: 'The body must be application/json.' },
  invalid_json: { status: 400, message: 'The body is not valid JSON.' },
  json_too_complex: { status: 400, message: 'The body holds too many values or is nested too deep.' },
  invalid_request: { status: 400, message: 'Some fields are not valid.' },
  payload_too_large: { status: 413, message: 'The body is larger than 2 MiB.' },
  not_fired: { status: 409, message: 'The deterrent was not fired.' },
  no_way_back: { status: 409, message: 'There is no version before on this device.' },
  too_many_snoozes: { status: 409, message: 'Too many cameras are snoozed: end one first.' },
  not_snoozed: { status: 409, message: 'It is not snoozed any more.' },
  not_armed: { status: 503, message: 'The device cannot write to its disk, so it stays disarmed.' },
  too_many_requests: { status: 429, message: 'Too many calls. Wait a second.' },
  camera_failed: { status: 502, message: 'The camera or the application behind it gave no picture.' },
  internal_error: { status: 500, message: "The call failed. The agent's log has the details." },
  browser_refused: { status: 403, message: 'This API is for programs, not for pages in a browser.' },
  api_not_configured: { status: 403, message: 'Add sources.api to gateway.yaml to report detections.' },
  token_required: { status: 401, message: 'Send the token of gateway.yaml as Authorization: Bearer.' },
  camera_not_found: { status: 404, message: 'gateway.yaml has no camera of this name that the device itself reads.' },
  camera_exists: { status: 409, message: 'gateway.yaml has a camera of this name already.' },
  deterrent_exists: { status: 409, message: 'gateway.yaml has a deterrent of this name already.' },
  deterrent_failed: { status: 502, message: 'The device that is to be switched did not answer.' },
  trial_not_found: { status: 404, message: 'This preview has ended. Press Look to begin again.' },
  proposal_not_found: { status: 404, message: 'Learning does not propose this any more.' },
  cross_site: { status: 403, message: 'Only a page of this device may call this.' },
  not_signed_in: { status: 401, message: 'Sign in first.' },
  wrong_password: { status: 403, message: 'The password is wrong.' },
  file_changed: {
    status: 409,
    message: 'The file was changed meanwhile. Load it again and repeat your change.',
  },
  file_invalid: { status: 400, message: 'The file has errors and was not saved; the one before stays in force.' },
  file_unwritable: { status: 409, message: 'The file cannot be written. Change it on the device.' },
  password_required: { status: 403, message: 'Through the hub this takes the password of the device.' },
  role_required: { status: 403, message: 'Your role in the hub does not allow this.' },
} as const satisfies Record<string, { status: number; message: string }>

export type DeviceErrorCode = keyof typeof deviceErrorTable

/** Of every call: its address, its parts and what fails in the agent. */
export const errorsOfEveryDeviceCall = [
  'not_found',
  'method_not_allowed',
  'unsupported_media_type',
  'invalid_json',
  'json_too_complex',
  'invalid_request',
  'payload_too_large',
  'too_many_requests',
  'internal_error',
] as const satisfies readonly DeviceErrorCode[]
