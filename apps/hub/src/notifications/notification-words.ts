/** What notifications say, in each language. */
import type { Fact, Language, RegistrationHold } from '@hedgerow/contract'

type Words = { title: string; text: string }

export const GUESSED: Readonly<Record<Language, (username: string, sourceIp: string) => Words>> = {
  en: (username, sourceIp) => ({
    title: 'Somebody with your password could not give the code',
    text: [
      `Somebody signed in to the hub as ${username} with the right password and gave wrong two-factor codes,`,
      `the last time from ${sourceIp}. If this was not you, change your password. Sign-ins from networks that you`,
      'have used before, and recovery codes, work as before.',
    ].join('\n'),
  }),
  de: (username, sourceIp) => ({
    title: 'Jemand kennt Ihr Passwort, aber nicht den Code',
    text: [
      `Jemand hat sich am Hub als ${username} mit dem richtigen Passwort angemeldet und falsche Codes für den zweiten`,
      `Faktor eingegeben, zuletzt von ${sourceIp}. Falls Sie das nicht waren, ändern Sie Ihr Passwort. Anmeldungen aus`,
      'Netzen, die Sie schon verwendet haben, und Wiederherstellungscodes funktionieren weiterhin.',
    ].join('\n'),
  }),
}

export const PENDING: Readonly<
  Record<Language, (device: Fact<'registration.pending'>['data'], sourceIp: string) => Words>
> = {
  en: ({ deviceName, deviceLocation, macAddress, deviceVersion, fingerprint, keyChangeFor }, sourceIp) => ({
    title:
      keyChangeFor === null
        ? `New gateway "${deviceName}" waits for approval, from ${sourceIp}`
        : `Gateway "${keyChangeFor.name}" asks to change its keys, from ${sourceIp}`,
    text: [
      `Device: ${deviceName}`,
      `Location: ${deviceLocation || 'Not specified'}`,
      `From: ${sourceIp}`,
      `MAC address: ${macAddress || 'N/A'}`,
      `Version: ${deviceVersion}`,
      `Fingerprint: ${fingerprint}`,
      'Compare the fingerprint with what the device shows, then approve or reject it under Pending Gateway ' +
        'Registrations:',
    ].join('\n'),
  }),
  de: ({ deviceName, deviceLocation, macAddress, deviceVersion, fingerprint, keyChangeFor }, sourceIp) => ({
    title:
      keyChangeFor === null
        ? `Neues Gateway „${deviceName}“ wartet auf Freigabe, von ${sourceIp}`
        : `Gateway „${keyChangeFor.name}“ bittet um neue Schlüssel, von ${sourceIp}`,
    text: [
      `Gerät: ${deviceName}`,
      `Ort: ${deviceLocation || 'nicht angegeben'}`,
      `Von: ${sourceIp}`,
      `MAC-Adresse: ${macAddress || 'keine'}`,
      `Version: ${deviceVersion}`,
      `Fingerabdruck: ${fingerprint}`,
      'Vergleichen Sie den Fingerabdruck mit dem, den das Gerät zeigt, und geben Sie es unter Approvals frei ' +
        'oder lehnen es ab:',
    ].join('\n'),
  }),
}

type Held = { deviceName: string; waitsFor: RegistrationHold; reason: string; sourceIp: string }

export const HELD: Readonly<Record<Language, (held: Held) => Words>> = {
  en: ({ deviceName, waitsFor, reason, sourceIp }) => ({
    title: `Devices that may join have to wait: ${reason}`,
    text: [
      reason,
      `The first of them is "${deviceName}", from ${sourceIp}. All others that wait are under Approvals.`,
      WHAT_TO_DO[waitsFor],
    ].join('\n'),
  }),
  // The reason is a sentence of the log.
  de: ({ deviceName, waitsFor, sourceIp }) => ({
    title: `Geräte, die beitreten dürfen, müssen warten: ${GERMAN_HOLDS[waitsFor].reason}`,
    text: [
      GERMAN_HOLDS[waitsFor].reason,
      `Das erste ist „${deviceName}“, von ${sourceIp}. Alle anderen stehen unter Approvals.`,
      GERMAN_HOLDS[waitsFor].whatToDo,
    ].join('\n'),
  }),
}

const WHAT_TO_DO: Readonly<Record<RegistrationHold, string>> = {
  gateway_limit_reached: 'Raise the maximum number of gateways under Settings, or delete a gateway: they join then.',
  address_pool_exhausted: 'Set a larger VPN network under Settings, or delete a gateway: they join then.',
  device_token_taken: 'Delete the gateway that has the same device token, or reject this request.',
  vpn_disabled: 'Switch the VPN on under Settings: they join then.',
}

const GERMAN_HOLDS: Readonly<Record<RegistrationHold, { reason: string; whatToDo: string }>> = {
  gateway_limit_reached: {
    reason: 'Der Hub ist voll.',
    whatToDo: 'Erhöhen Sie unter Settings die Höchstzahl der Gateways, oder löschen Sie eines: Dann treten sie bei.',
  },
  address_pool_exhausted: {
    reason: 'Im Netz der Gateways ist keine Adresse frei.',
    whatToDo: 'Stellen Sie unter Settings ein größeres Netz ein, oder löschen Sie ein Gateway: Dann treten sie bei.',
  },
  device_token_taken: {
    reason: 'Ein anderes Gateway hat dasselbe Token.',
    whatToDo: 'Löschen Sie das Gateway mit demselben Token, oder lehnen Sie die Anfrage ab.',
  },
  vpn_disabled: {
    reason: 'Das VPN des Hubs läuft nicht.',
    whatToDo: 'Schalten Sie das VPN unter Settings ein: Dann treten sie bei.',
  },
}
