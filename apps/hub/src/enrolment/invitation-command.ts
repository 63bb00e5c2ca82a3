/**
 * The command that a person pastes on a device that has the sources: the hub's address, its key's pin, and the code.
 * Options may follow.
 */
export function invitationCommand(card: { hubUrl: string; hubFingerprint: string; code: string }): string {
  const fingerprint = card.hubFingerprint.replaceAll(' ', '-')
  return (
    `GATEWAY_HUB_URL=${card.hubUrl} GATEWAY_HUB_FINGERPRINT=${fingerprint} GATEWAY_INVITATION_CODE=${card.code} ` +
    'npm run gateway --'
  )
}
