/** The forms of `sources`: Frigate, the gateway's own eye, and programs that report. */

export const FRIGATE = {
  title: 'Frigate',
  lead: 'A Frigate on this device or in its network. Its user and its password belong together.',
  groups: [
    ['sources', 'frigate'],
    ['sources', 'frigate', 'mqtt'],
  ],
  fields: [
    {
      path: ['sources', 'frigate', 'url'],
      label: 'Address of Frigate',
      description: 'Such as http://127.0.0.1:5000, or port 8971 with https, where it asks for a user.',
      kind: 'text',
      usual: 'none',
    },
    {
      path: ['sources', 'frigate', 'user'],
      label: 'User of Frigate',
      description: 'Where Frigate asks for one. The role viewer is enough.',
      kind: 'text',
      usual: 'none',
    },
    { path: ['sources', 'frigate', 'password'], label: 'Password of this user', kind: 'secret' },
    {
      path: ['sources', 'frigate', 'certificateFingerprint'],
      label: 'Fingerprint of its certificate, SHA-256',
      description: 'For an https address on another machine that signs its own.',
      kind: 'text',
      usual: 'none',
    },
    {
      path: ['sources', 'frigate', 'interface'],
      label: 'Address of its own interface, for Connect',
      kind: 'text',
      usual: 'the address of Frigate',
    },
    {
      path: ['sources', 'frigate', 'proxySecret'],
      label: 'Its proxy.auth_secret',
      description: 'With it the hub’s roles apply in Frigate’s own interface.',
      kind: 'secret',
    },
    {
      path: ['sources', 'frigate', 'cameras'],
      label: 'Cameras, by Frigate’s names, with commas between',
      kind: 'list',
      usual: 'all',
    },
    {
      path: ['sources', 'frigate', 'severity'],
      label: 'What it reports',
      kind: [
        ['', 'Alerts and detections (usual)'],
        ['detection', 'Alerts and detections, written out'],
        ['alert', 'Alerts only'],
      ],
    },
    {
      path: ['sources', 'frigate', 'backfillHours'],
      label: 'Hours to fetch after a time without Frigate',
      kind: 'number',
      usual: '24',
    },
    {
      path: ['sources', 'frigate', 'mqtt', 'url'],
      label: 'Address of an MQTT broker',
      description: 'Its messages come over it then, instead of over Frigate’s WebSocket: mqtt://192.168.1.10.',
      kind: 'text',
      usual: 'none',
    },
    { path: ['sources', 'frigate', 'mqtt', 'username'], label: 'User of the broker', kind: 'text', usual: 'none' },
    { path: ['sources', 'frigate', 'mqtt', 'password'], label: 'Password at the broker', kind: 'secret' },
    {
      path: ['sources', 'frigate', 'mqtt', 'topicPrefix'],
      label: 'Topic prefix of Frigate',
      kind: 'text',
      usual: 'frigate',
    },
  ],
} as const

export const EYE = {
  title: 'The gateway’s own eye',
  lead: 'It looks at cameras of gateway.yaml. A camera’s own scores, on its page under Now, go before these.',
  groups: [
    ['sources', 'eye'],
    ['sources', 'eye', 'recording'],
  ],
  fields: [
    { path: ['sources', 'eye', 'cameras'], label: 'Cameras, with commas between', kind: 'list', usual: 'none' },
    {
      path: ['sources', 'eye', 'model'],
      label: 'Model',
      description: 'One that was added, such as ssdlite-coco; with none it reports motion only.',
      kind: 'text',
      usual: 'none',
    },
    { path: ['sources', 'eye', 'labels'], label: 'Labels to report, with commas between', kind: 'list', usual: 'all' },
    {
      path: ['sources', 'eye', 'minimumScore'],
      label: 'Lowest score, 0 to 1',
      kind: 'number',
      usual: 'what was measured for the model, else 0.6',
    },
    {
      path: ['sources', 'eye', 'scores'],
      label: 'Lowest score of single labels',
      description: 'Such as deer: 0.7, animal: 0.5. animal is every animal without a score of its own.',
      kind: 'scores',
      usual: 'none',
    },
    {
      path: ['sources', 'eye', 'recording', 'clips'],
      label: 'Recordings',
      kind: [
        ['', 'Pictures and clips (usual)'],
        ['true', 'Pictures and clips, written out'],
        ['false', 'Pictures only'],
      ],
    },
    {
      path: ['sources', 'eye', 'recording', 'secondsBefore'],
      label: 'Seconds of a clip before',
      kind: 'number',
      usual: '5',
    },
    {
      path: ['sources', 'eye', 'recording', 'secondsAfter'],
      label: 'Seconds of a clip after',
      kind: 'number',
      usual: '10',
    },
    { path: ['sources', 'eye', 'recording', 'days'], label: 'Days to keep recordings', kind: 'number', usual: '14' },
    {
      path: ['sources', 'eye', 'recording', 'megabytes'],
      label: 'Space for recordings, MB',
      kind: 'number',
      usual: '2000',
    },
  ],
} as const

export const API = {
  title: 'Programs that report',
  lead: 'Any program reports detections over HTTP, with this token. Without both, each report is refused.',
  groups: [['sources', 'api']],
  fields: [
    {
      path: ['sources', 'api', 'token'],
      label: 'Token of programs',
      description: '16 characters at least.',
      kind: 'secret',
    },
    {
      path: ['sources', 'api', 'loopbackNeedsToken'],
      label: 'Programs on the device itself',
      kind: [
        ['', 'Need the token (usual)'],
        ['true', 'Need the token, written out'],
        ['false', 'Report without it'],
      ],
    },
  ],
} as const
