import { expect, test } from 'vitest'
import { argumentsFor } from './ffmpeg.ts'
import { createFfmpegLog, inPlainWords } from './ffmpeg-words.ts'
import { camerasSettings } from './schema.ts'

const over = (transport: 'tcp' | 'udp') => ({ url: 'rtsp://viewer:secret@10.0.0.9/s', transport })

test.each([
  '[rtsp @ 0x5] method SETUP failed: 461 Unsupported Transport',
  '[rtsp @ 0x5] method SETUP failed: 461 Client error\n[error] rtsp://10.0.0.9/s: Protocol not supported',
  '[rtsp @ 0x5] method SETUP failed: 406 TCP TRANSPORT IS NOT SUPPORTED',
  '[rtsp @ 0x5] Nonmatching transport in server reply\n[error] rtsp://10.0.0.9/s: Invalid data found when ' +
    'processing input',
])('%s names the setting', (stderr) => {
  expect(inPlainWords(stderr, over('tcp'), false)!.message).toContain('set `transport: udp`')
  expect(inPlainWords(stderr, over('udp'), false)!.message).toContain('leave `transport` out')
})

test.each([
  ['[rtsp @ 0x5] method DESCRIBE failed: 401 Unauthorized', 'it refuses the user name or the password of its address'],
  [
    'rtsp://viewer:secret@10.0.0.9/s: Server returned 401 Unauthorized (authorization failed)',
    'it refuses the user name',
  ],
  ['[tcp @ 0x5] Connection to tcp://10.0.0.9:554 failed: Connection refused', 'nothing answers at its port'],
  ['rtsp://10.0.0.9/s: No route to host', 'there is no route to it'],
  ['rtsp://10.0.0.9/s: Connection timed out', 'it does not answer'],
  ['[rtsp @ 0x5] method DESCRIBE failed: 404 Not Found', 'it has nothing at this path'],
  ['[error] rtsp://10.0.0.9/s: Invalid data found when processing input', 'is no camera, or speaks another protocol'],
  ['[in#0 @ 0x5] [error] Error opening input: Invalid data found when processing input', 'is no camera'],
  ['[rtmp @ 0x5] [error] Cannot read RTMP handshake response\nrtmp://10.0.0.9/s: End of file', 'is no camera'],
  ['[error] Error while decoding stream #0:0: Invalid data found when processing input', 'it sends damaged video'],
  ["Stream map '0:v:0' matches no streams.", 'it sends no video'],
  ['Decoder (codec vvc) not found for input stream #0:0', 'does not know the codec of its video'],
])('%s', (stderr, meaning) => {
  const { message } = inPlainWords(stderr, over('tcp'), false)!
  expect(message).toContain(meaning)
  expect(message).not.toContain('secret')
})

test.each([
  [
    '[rtsp @ 0x5] [error] method SETUP failed: 415 x\n[error] rtsp://10.0.0.9/s: Server returned 4XX Client Error',
    ' (415)',
  ],
  ['[error] rtsp://10.0.0.9/s: Server returned 400 Bad Request', ' (400)'],
  ['[error] rtsp://10.0.0.9/s: Server returned 5XX Server Error reply', ''],
  ['[error] rtsp://10.0.0.9/s: Invalid data found when processing input', ''],
])('after its description %s is about its transport', (stderr, status) => {
  const words = `it describes its video and does not send it${status}: `
  expect(inPlainWords(stderr, over('tcp'), true)!.message).toBe(
    `${words}try \`transport: udp\` for this camera in gateway.yaml`,
  )
  expect(inPlainWords(stderr, over('udp'), true)!.message).toContain(`${words}leave`)
})

test('an unknown text has no meaning', () => {
  expect(inPlainWords('something new with rtsp://viewer:secret@10.0.0.9/s', over('tcp'), false)).toBeUndefined()
  expect(inPlainWords('', over('tcp'), false)).toBeUndefined()
})

test('its log: only complaints are kept, damage and sizes are reported, in pieces of any length', () => {
  const text = `[tcp @ 0x1] [verbose] Successfully connected to 10.0.0.9 port 554
a=title:401 Unauthorized
[graph 0 input from stream 0:0 @ 0x2] [verbose] w:800 h:600 pixfmt:yuv420p
[h264 @ 0x3] [info] concealing 1255 DC, 1255 AC, 1255 MV errors in P frame
[graph 0 input from stream 0:0 @ 0x4] [verbose] w:640 h:360 pixfmt:yuv420p
[rtsp @ 0x5] [info] Status 302: Redirecting to rtsp://127.0.0.1:8080/
[error] rtsp://10.0.0.9/s: Connection refused
`
  for (const step of [1, 7, 1_000]) {
    const told: string[] = []
    const log = createFfmpegLog({
      damage: () => told.push('damage'),
      size: (size) => told.push(size),
      redirect: () => told.push('redirect'),
    })
    for (let from = 0; from < text.length; from += step) log.add(text.slice(from, from + step))
    expect(told).toEqual(['800 x 600', 'damage', '640 x 360', 'redirect'])
    expect(log.complaints()).toBe('[error] rtsp://10.0.0.9/s: Connection refused\n')
  }
})

test('its log: endless lines take bounded memory', () => {
  const log = createFfmpegLog({ damage() {}, size() {}, redirect() {} })
  for (let count = 0; count < 1_000; count++) log.add('x'.repeat(10_000))
  expect(log.complaints().length).toBeLessThan(10_000)
})

test('an address is one argument and never an option, a file or a pipe', () => {
  const settingsFor = (url: string) => camerasSettings.safeParse({ gate: { url } })
  const url = 'rtsp://viewer:a%20b@10.0.0.9/stream?-i=/etc/passwd'
  const list = argumentsFor({ ...settingsFor(url).data!['gate']!, url }, true)
  expect(list[list.indexOf('-i') + 1]).toBe(url)
  expect(list.filter((argument) => argument.includes('passwd'))).toEqual([url])
  for (const other of ['file:///etc/passwd', '/etc/passwd', '-i', 'pipe:0', 'concat:a|b'])
    expect(settingsFor(other).success).toBe(false)
})
