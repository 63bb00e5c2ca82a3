import { CameraError } from './camera-error.ts'

/** Texts that FFmpeg writes to stderr, and their meaning. The first match counts. */
const MEANINGS: readonly (readonly [RegExp, string])[] = [
  [/401 Unauthorized|403 Forbidden|authorization failed/i, 'it refuses the user name or the password of its address'],
  [/404 Not Found|Server returned 4\d\d/i, 'it has nothing at this path of its address'],
  [/Connection refused/i, 'nothing answers at its port'],
  [/No route to host|Network is unreachable/i, 'there is no route to it'],
  [/Connection timed out|Operation timed out/i, 'it does not answer'],
  [/Name or service not known|Temporary failure in name resolution|Failed to resolve/i, 'its name is not known'],
  [
    /Unknown encoder|Decoder .* not found|no decoder|Unsupported codec|Could not find codec/i,
    'FFmpeg does not know how its video is coded',
  ],
  [/does not contain any stream|matches no streams|could not find.*video/i, 'it sends no video'],
  [
    /hwaccel|hardware accelerator|device setup failed|No device available/i,
    'this device cannot decode in hardware as gateway.yaml says',
  ],
  [/Protocol not found|not on whitelist/i, 'FFmpeg does not speak what its address asks for'],
  [/Invalid data found|Error while decoding|corrupt/i, 'it sends damaged video'],
  [/Connection reset|Broken pipe|End of file|Input\/output error/i, 'the connection broke'],
]

/** The meaning of FFmpeg's last lines, never with an address or a password in it. */
export function inPlainWords(stderr: string): CameraError {
  const meaning = MEANINGS.find(([pattern]) => pattern.test(stderr))
  return new CameraError(meaning?.[1] ?? 'FFmpeg ended; the log of the gateway has its last words')
}
