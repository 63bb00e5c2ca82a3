import { expect, it } from 'vitest'
import { deviceCommand, inLines } from './device-command.ts'

const COMMAND = 'GATEWAY_HUB_URL=http://hub.example:8080 GATEWAY_INVITATION_CODE=ABCD npm run gateway --'

it('names the device, with any text as one word of a shell', () => {
  expect(deviceCommand(COMMAND, { name: 'Barn', location: '' })).toBe(`${COMMAND} --name 'Barn'`)
  expect(deviceCommand(COMMAND, { name: "Rosa's $(barn)", location: 'Row 12' })).toBe(
    `${COMMAND} --name 'Rosa'\\''s $(barn)' --location 'Row 12'`,
  )
})

it('is shown in lines that are still one command', () => {
  expect(inLines(deviceCommand(COMMAND, { name: 'Barn', location: 'Yard' }))).toBe(
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
  expect(inLines(deviceCommand(install, { name: 'Barn', location: '' }))).toBe(
    [
      'curl -fsSL \\',
      'http://hub.example:8080/install.sh | \\',
      'sh -s -- \\',
      '--invitation ABCD \\',
      "--name 'Barn'",
    ].join('\n'),
  )
})
