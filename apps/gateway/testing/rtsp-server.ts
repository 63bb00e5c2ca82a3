import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** Debian's GStreamer as an RTSP server. */
export type RtspServer = {
  port: number
  /** Sets a property of the elements of this name, in all streams. */
  set(element: string, property: string, value: string): void
  stop(): Promise<void>
}

/** Debian's own Python, which has its GStreamer. */
const PYTHON = '/usr/bin/python3'
const NEEDED = `
import gi
gi.require_version('GstRtspServer', '1.0')
from gi.repository import Gst, GstRtspServer
Gst.init(None)
assert all(Gst.ElementFactory.find(name) for name in ('x264enc', 'rtph264pay', 'videotestsrc', 'capssetter'))
`

/** Why there is none on this machine; undefined when there is one. */
export function rtspServerLacks(): string | undefined {
  if (spawnSync('ffmpeg', ['-version']).error) return 'there is no ffmpeg'
  return spawnSync(PYTHON, ['-c', NEEDED]).status === 0 ? undefined : "there is no RTSP server of Debian's GStreamer"
}

/** `streams` are GStreamer's pipelines by name, each with a payloader called `pay0`. */
export async function startRtspServer(
  streams: Readonly<Record<string, string>>,
  {
    user,
    password,
    port = 0,
    onlyUdp = false,
  }: { user?: string; password?: string; port?: number; onlyUdp?: boolean } = {},
): Promise<RtspServer> {
  const list = Object.entries(streams).map(([name, pipeline]) => `${name}=${pipeline}`)
  const child = spawn(PYTHON, [join(import.meta.dirname, 'rtsp-server.py'), ...list], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: {
      PATH: process.env.PATH,
      PORT: String(port),
      ...(onlyUdp && { ONLY_UDP: '1' }),
      ...(user !== undefined && { USER: user, PASSWORD: password }),
    },
  })
  const ended = once(child, 'close')
  const [output] = (await once(child.stdout, 'data')) as [Buffer]
  return {
    port: Number(output.toString()),
    set: (element, property, value) => void child.stdin.write(`set ${element} ${property} ${value}\n`),
    async stop() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
