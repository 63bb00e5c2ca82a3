/** The goals, as docs/performance.md has them: ratios in one run where there is a peer, and what has none. */

export type Goal = { least: number } | { most: number }

export const GOALS = {
  /** Our rates to nginx's over wireguard-go, and to Caddy's. */
  proxy: {
    'download, 1 stream': { least: 1.7 },
    'download, 16 streams': { least: 1.7 },
    'upload, 1 stream': { least: 1.2 },
    'upload, 16 streams': { least: 1.2 },
    'requests, 16 connections': { least: 0.9 },
    'requests, 128 connections': { least: 0.9 },
    'first byte, kept connection: ms more': { most: 0.5 },
    'first byte, new connection: ms more': { most: 0.5 },
    'download, 1 stream: to Caddy': { least: 1.5 },
    'requests, 16 connections: to Caddy': { least: 1.5 },
    'requests, 128 connections: to Caddy': { least: 1.3 },
    'download, 1 stream: processor time': { most: 1 },
    'requests, 16 connections: processor time': { most: 1 },
    'requests, 128 connections: processor time': { most: 1 },
  },
  /** Our rates to those of Linux's TCP over wireguard-go, and our processor time to that of both of these. */
  tunnel: {
    'download, 1 stream': { least: 1.8 },
    'download, 16 streams': { least: 1.8 },
    'upload, 1 stream': { least: 1.2 },
    'upload, 16 streams': { least: 1.2 },
    'requests, 16 connections': { least: 1.2 },
    'download, 1 stream: processor time': { most: 1 },
    'download, 16 streams: processor time': { most: 1 },
    'upload, 1 stream: processor time': { most: 1 },
    'upload, 16 streams: processor time': { most: 1 },
    'requests, 16 connections: processor time': { most: 1 },
  },
  approve: { 'first byte, p95, ms': { most: 250 } },
  api: {
    'sqlite: detections a second': { least: 50_000 },
    'postgres: detections a second': { least: 20_000 },
    'sqlite: start to listening, s': { most: 1 },
  },
  fleet: {
    '245 gateways: p99, ms': { most: 100 },
    '245 gateways: at rest, MB': { most: 150 },
    '2500 gateways: core, %': { most: 60 },
    '2500 gateways: p99, ms': { most: 150 },
    '2500 gateways: all back, s': { most: 15 },
    '10000 gateways: core, %': { most: 70 },
    '10000 gateways: p99, ms': { most: 500 },
    '10000 gateways: all back, s': { most: 90 },
  },
  agent: { 'at rest, MB': { most: 80 }, 'at rest, core, %': { most: 1 } },
  eye: {
    "motion and tracking: processor time to MOG2's": { most: 0.1 },
    "H.264 to tracks: processor time to FFmpeg's decoding": { most: 1.3 },
    "a model: pictures a second to OpenCV's": { least: 2 },
  },
  learning: {
    'fewer false alarms on night 8, %': { least: 90 },
    'right detections lost, %': { most: 1 },
    'persons lost': { most: 0 },
  },
  web: {
    '/: script, gzip kB': { most: 20 },
    '/: first paint, ms': { most: 600 },
    '/beta: script, gzip kB': { most: 20 },
    '/beta: first paint, ms': { most: 600 },
    '/login: script, gzip kB': { most: 145 },
    '/login: first paint, ms': { most: 1_000 },
    '/register: script, gzip kB': { most: 145 },
    '/register: first paint, ms': { most: 1_000 },
    '/dashboard: script, gzip kB': { most: 240 },
    '/dashboard: first paint, ms': { most: 1_300 },
    '/gateways: script, gzip kB': { most: 210 },
    '/gateways: first paint, ms': { most: 1_300 },
    'filter: keystroke to next paint, p95, ms': { most: 40 },
    'scrolling: one frame, p95, ms': { most: 50 },
  },
} as const satisfies Record<string, Record<string, Goal>>
