/** Messages of an agent of the first version, as recorded; never changed, because such agents are still in use. */
export const firstAgentHeartbeat = {
  bootId: '5f0e1d1c-6d2f-4d0b-9b63-0d3c0f3b6a11',
  sequence: 7,
  uptimeSeconds: 211,
  version: '0.1.0',
  clock: 1_777_632_123_456,
  load: 0.315,
  memory: 0.6121,
  disk: 0.4407,
  temperature: 51.54,
  cameras: [{ name: 'yard', state: 'online', fps: 5.1 }],
  detectors: [{ name: 'coral', inferenceMs: 9.8 }],
  deterrents: [{ name: 'sprinkler', state: 'ready' }],
  problems: ['camera gate gives no pictures'],
}

export const firstAgentDetections = {
  detections: [
    {
      id: '1777632111.204513-kx3v9d',
      camera: 'yard',
      label: 'deer',
      severity: 'alert',
      score: 0.8671875,
      startedAt: '2026-05-01T10:41:51.204Z',
      endedAt: '2026-05-01T10:42:03.911Z',
      validated: true,
      falsePositive: false,
      deterrent: 'sprinkler',
    },
  ],
}
