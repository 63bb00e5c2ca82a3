import { CameraError, hasSignIn, SignInRefused, WANTS_SIGN_IN } from './camera-error.ts'
import type { CameraSettings } from './schema.ts'

/** Texts that FFmpeg writes to stderr, and their meaning. The first match counts. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/404 Not Found|Server returned 4\d\d/i, 'it has nothing at this path of its address'],
  [/Connection refused/i, 'nothing answers at its port'],
  [/No route to host|Network is unreachable/i, 'there is no route to it'],
  [/Connection timed out|Operation timed out/i, 'it does not answer'],
  [/Name or service not known|Temporary failure in name resolution|Failed to resolve/i, 'its name is not known'],
  [
    /Unknown encoder|Decoder .* not found|no decoder|Unsupported codec|Could not find codec/i,
    'FFmpeg does not know the codec of its video',
  ],
  [/does not contain any stream|matches no streams|could not find.*video/i, 'it sends no video'],
  [
    /hwaccel|hardware accelerator|device setup failed|No device available|_v4l2m2m @/i,
    'this device cannot decode in hardware as gateway.yaml says',
  ],
  [/Protocol not found|not on whitelist/i, 'FFmpeg does not support the protocol of its address'],
  // While the connection opens, before any video.
  [
    /\brtsps?:\/\/\S{1,500}: Invalid data found|Error opening input: Invalid data found|Cannot read RTMP handshake/,
    'what answers at its address is no camera, or speaks another protocol',
  ],
  [/Invalid data found|Error while decoding|corrupt/i, 'it sends damaged video'],
  [/Connection reset|Broken pipe|End of file|Input\/output error/i, 'the connection broke'],
]

const REFUSED = /401 Unauthorized|403 Forbidden|authorization failed/i

/** 461 and 406 are what cameras answer to a transport that they lack; others choose the other one. */
const OTHER_TRANSPORT = /\bmethod SETUP failed: (?:461|406|405)\b|Nonmatching transport in server reply/i
const INSTEAD_OF = {
  tcp: 'it sends its video over UDP only: set `transport: udp` for this camera in gateway.yaml',
  udp: 'it does not send its video over UDP: leave `transport` out for this camera in gateway.yaml',
} as const

/** After its description. FFmpeg names the method of most refusals, and none when the connection ends. */
const SETUP_FAILED = /\bmethod SETUP failed: (\d{3})\b/
const NOT_OPENED = /Server returned ([45]\d\d)?|\brtsps?:\/\/\S{1,500}: Invalid data found/
const INSTEAD = {
  tcp: 'try `transport: udp` for this camera in gateway.yaml',
  udp: 'leave `transport` out for this camera in gateway.yaml',
} as const

/**
 * The meaning of FFmpeg's last lines, without address or password; undefined when it is unknown. `isDescribed`: the
 * camera had described its video.
 */
export function inPlainWords(
  stderr: string,
  { url, transport }: Pick<CameraSettings, 'url' | 'transport'>,
  isDescribed: boolean,
): CameraError | undefined {
  if (REFUSED.test(stderr)) return hasSignIn(new URL(url)) ? new SignInRefused() : new CameraError(WANTS_SIGN_IN)
  if (OTHER_TRANSPORT.test(stderr)) return new CameraError(INSTEAD_OF[transport])
  const unsent = SETUP_FAILED.exec(stderr) ?? (isDescribed ? NOT_OPENED.exec(stderr) : undefined)
  if (unsent) {
    const status = unsent[1] === undefined ? '' : ` (${unsent[1]})`
    return new CameraError(`it describes its video and does not send it${status}: ${INSTEAD[transport]}`)
  }
  const meaning = MEANINGS.find(([pattern]) => pattern.test(stderr))
  return meaning && new CameraError(meaning[1])
}

/** What FFmpeg says at `-loglevel level+verbose`, line by line. */
export type FfmpegLog = {
  add(text: string): void
  /** Its last complaints. */
  complaints(): string
  /** The camera has described its video. */
  isDescribed(): boolean
}

const LINE_MAX = 2_000
const COMPLAINTS_MAX = 4_000
const COMPLAINT = /\[(?:warning|error|fatal|panic)\]/
/** FFmpeg continues and fills the missing part with old content. */
const DAMAGE = /concealing|corrupt decoded frame/
/** The size of pictures, logged at the start and at each change. */
const SIZE = /input from stream 0:0 @ \w{1,20}\] \[verbose\] w:(\d{1,5}) h:(\d{1,5})/
const DESCRIPTION = /\[rtsp @ \w{1,20}\] \[verbose\] SDP:/

/** RTSP has redirects, and FFmpeg has no option against them. */
const REDIRECT = /\[rtsp @ \w{1,20}\] \[info\] Status 3\d\d: Redirecting to /

export function createFfmpegLog(on: { damage(): void; size(size: string): void; redirect(): void }): FfmpegLog {
  let rest = ''
  let complaints = ''
  let isDescribed = false

  function takeLine(line: string): void {
    if (COMPLAINT.test(line)) complaints = `${complaints}${line}\n`.slice(-COMPLAINTS_MAX)
    if (DAMAGE.test(line)) on.damage()
    if (DESCRIPTION.test(line)) isDescribed = true
    if (REDIRECT.test(line)) on.redirect()
    const [, width, height] = SIZE.exec(line) ?? []
    if (width !== undefined) on.size(`${width} x ${height}`)
  }

  return {
    add(text) {
      const lines = (rest + text).split('\n')
      rest = (lines.pop() ?? '').slice(-LINE_MAX)
      for (const line of lines) takeLine(line.slice(0, LINE_MAX))
    },
    complaints: () => complaints + rest,
    isDescribed: () => isDescribed,
  }
}
