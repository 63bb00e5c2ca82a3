/** What rules refer to: the place for their hours, and the second look that confirms detections. */

export const PLACE = {
  title: 'Place and time zone',
  lead: 'Hours that follow the sun need the place. All hours are in this time zone.',
  fields: [
    { path: ['site', 'latitude'], label: 'Latitude, degrees north', kind: 'number' },
    { path: ['site', 'longitude'], label: 'Longitude, degrees east', kind: 'number' },
    {
      path: ['site', 'timeZone'],
      label: 'Time zone, such as Europe/Berlin',
      kind: 'text',
      usual: 'that of the device',
    },
  ],
} as const

export const SECOND_LOOK = {
  title: 'Second look',
  lead: 'It looks at a detection’s picture again, and confirms or rejects it. One of hub, model and endpoint looks.',
  groups: [['secondLook'], ['secondLook', 'endpoint']],
  fields: [
    { path: ['secondLook', 'labels'], label: 'Labels, with commas between', kind: 'list', usual: 'none' },
    {
      path: ['secondLook', 'hub'],
      label: 'The endpoint of the hub',
      kind: [
        ['', 'Not used'],
        ['true', 'Used'],
      ],
    },
    { path: ['secondLook', 'model'], label: 'A second model of this device', kind: 'text', usual: 'none' },
    { path: ['secondLook', 'endpoint', 'url'], label: 'Address of an own endpoint', kind: 'text', usual: 'none' },
    { path: ['secondLook', 'endpoint', 'model'], label: 'Model at the endpoint', kind: 'text', usual: 'none' },
    {
      path: ['secondLook', 'normal'],
      label: 'What is normal in the pictures',
      description: 'A sentence for the hub or the endpoint, such as “Sheep graze behind the fence.”',
      kind: 'text',
    },
  ],
} as const
