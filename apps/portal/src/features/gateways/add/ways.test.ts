import { expect, it } from 'vitest'
import { cardFile, containerCommand, deviceCommand, inLines } from './ways.ts'

const card = { code: 'ABCD', hubUrl: 'http://hub.example:8080', hubFingerprint: 'AAAA BBBB' }
const COMMAND = 'GATEWAY_HUB_URL=http://hub.example:8080 GATEWAY_INVITATION_CODE=ABCD npm run gateway --'

it('names the device, with any text as one word of a shell', () => {
  expect(deviceCommand({ ...card, command: COMMAND, name: 'Barn', location: '' })).toBe(`${COMMAND} --name 'Barn'`)
  expect(deviceCommand({ ...card, command: COMMAND, name: "Rosa's $(barn)", location: 'Row 12' })).toBe(
    `${COMMAND} --name 'Rosa'\\''s $(barn)' --location 'Row 12'`,
  )
})

it('is shown in lines that are still one command', () => {
  expect(inLines(deviceCommand({ ...card, command: COMMAND, name: 'Barn', location: 'Yard' }))).toBe(
    [
      'GATEWAY_HUB_URL=http://hub.example:8080 \\',
      'GATEWAY_INVITATION_CODE=ABCD \\',
      'npm run gateway -- \\',
      "--name 'Barn' \\",
      "--location 'Yard'",
    ].join('\n'),
  )
})

it('shows the command that installs the agent in lines, too', () => {
  const install = 'curl -fsSL http://hub.example:8080/install.sh | sh -s -- --invitation ABCD'
  expect(inLines(deviceCommand({ ...card, command: install, name: 'Barn', location: '' }))).toBe(
    [
      'curl -fsSL \\',
      'http://hub.example:8080/install.sh | \\',
      'sh -s -- \\',
      '--invitation ABCD \\',
      "--name 'Barn'",
    ].join('\n'),
  )
})

it('starts the image in a container, with any text as one word of a shell', () => {
  expect(
    inLines(containerCommand({ ...card, command: COMMAND, name: "Rosa's $(barn)" }, '1.2.3')).split(' \\\n'),
  ).toEqual([
    'podman run --detach',
    '--name gateway --restart always',
    '--network host --read-only --read-only-tmpfs=false',
    '--cap-drop all',
    '--volume hedgerow-gateway:/data',
    "--env 'GATEWAY_HUB_URL=http://hub.example:8080'",
    "--env 'GATEWAY_HUB_FINGERPRINT=AAAA-BBBB'",
    "--env 'GATEWAY_INVITATION_CODE=ABCD'",
    "--env 'GATEWAY_NAME=Rosa'\\''s $(barn)'",
    'localhost/hedgerow-gateway:1.2.3',
  ])
})

it('has a file for a card, a line for each value', () => {
  expect(cardFile({ ...card, command: COMMAND, name: 'Hen house', location: '' })).toBe(
    'GATEWAY_HUB_URL=http://hub.example:8080\nGATEWAY_HUB_FINGERPRINT=AAAA-BBBB\nGATEWAY_INVITATION_CODE=ABCD\n' +
      'GATEWAY_NAME=Hen house\n',
  )
})
