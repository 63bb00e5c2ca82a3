import { expect, test } from 'vitest'
import { argumentsFor } from './ffmpeg.ts'
import { inPlainWords } from './ffmpeg-words.ts'
import { camerasSettings } from './schema.ts'

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
  ["Stream map '0:v:0' matches no streams.", 'it sends no video'],
  ['Decoder (codec vvc) not found for input stream #0:0', 'does not know how its video is coded'],
  ['something new with rtsp://viewer:secret@10.0.0.9/s', 'FFmpeg ended'],
  ['', 'FFmpeg ended'],
])('%s', (stderr, meaning) => {
  const { message } = inPlainWords(stderr)
  expect(message).toContain(meaning)
  expect(message).not.toContain('secret')
})

test('an address is one argument, and no option, file or pipe', () => {
  const settingsFor = (url: string) => camerasSettings.safeParse({ gate: { url } })
  const url = 'rtsp://viewer:a%20b@10.0.0.9/stream?-i=/etc/passwd'
  const list = argumentsFor({ ...settingsFor(url).data!['gate']!, url }, true)
  expect(list[list.indexOf('-i') + 1]).toBe(url)
  expect(list.filter((argument) => argument.includes('passwd'))).toEqual([url])
  for (const other of ['file:///etc/passwd', '/etc/passwd', '-i', 'pipe:0', 'concat:a|b'])
    expect(settingsFor(other).success).toBe(false)
})
