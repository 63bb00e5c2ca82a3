import { DEVICE_UI_BASE as base } from '@hedgerow/contract'
import type { GatewayState } from '../../hub/gateway-state.ts'
import type { Condition } from '../../kernel/conditions.ts'

const STATE_WORDS: Record<Condition['state'], string> = { done: 'Done', waiting: 'Waiting', failed: 'Problem' }

/**
 * Renders the public device page; `device.js` keeps it current through `data-field` names, which are those of
 * `api/state`. `signInPath`: the path of the device's own interface; undefined when it is not built.
 */
export function renderDevicePage(state: GatewayState, signInPath: string | undefined): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escape(state.name)} - Hedgerow gateway</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/device.css">
<script src="${base}/device.js" defer></script>
<noscript><meta http-equiv="refresh" content="10"></noscript>
</head>
<body data-base="${base}">
<header>
<p class="product">Hedgerow gateway</p>
<h1>${escape(state.name)}</h1>
<p class="place">${escape(state.location)}</p>
${signInPath === undefined ? '' : `<p><a href="${signInPath}">Sign in</a></p>`}
</header>
<main>
<section aria-labelledby="progress">
<h2 id="progress">Connection</h2>
<ol class="conditions">
${state.conditions.map(renderCondition).join('\n')}
</ol>
<p class="announcement" role="status"></p>
<p class="silent" role="alert"></p>
</section>
<section aria-labelledby="claim">
<h2 id="claim">Claim this gateway</h2>
<p>Scan the code with the hub's Claim Gateway dialog, or type the device token there.</p>
<img class="code" src="${base}/qr.svg"
  alt="QR code that opens the hub with this device token"${state.claimUrl === null ? ' hidden' : ''}>
<dl>
<div><dt>Device token</dt><dd class="token">${escape(state.deviceToken)}</dd></div>
</dl>
</section>
<section aria-labelledby="keys">
<h2 id="keys">Fingerprints</h2>
<p>Compare them with what the hub shows before this device is approved.</p>
<dl>
<div><dt>This device</dt><dd class="fingerprint">${escape(state.fingerprint)}</dd></div>
<div><dt>Hub</dt>
  <dd class="fingerprint" ${renderField('hubFingerprint', state.hubFingerprint, 'not known yet')}</dd></div>
</dl>
</section>
<section aria-labelledby="about">
<h2 id="about">Device</h2>
<dl>
<div><dt>Hub address</dt><dd ${renderField('hubUrl', state.hubUrl, 'not found yet')}</dd></div>
<div><dt>Gateway id</dt><dd ${renderField('gatewayId', state.gatewayId, 'none yet')}</dd></div>
<div><dt>VPN address</dt><dd ${renderField('vpnAddress', state.vpnAddress, 'none yet')}</dd></div>
<div><dt>Detections waiting</dt><dd data-field="detectionsWaiting">${state.detectionsWaiting}</dd></div>
<div><dt>Version</dt><dd>${escape(state.version)}</dd></div>
</dl>
</section>
</main>
</body>
</html>
`
}

/** `empty`: the text shown while the value is null. */
function renderField(field: keyof GatewayState, value: string | null, empty: string): string {
  return `data-field="${field}" data-empty="${empty}">${escape(value ?? empty)}`
}

function renderCondition(condition: Condition): string {
  const time = condition.at === null ? '' : `${condition.at.slice(0, 19).replace('T', ' ')} UTC`
  return `<li data-step="${condition.step}" data-state="${condition.state}">
<span class="mark" aria-hidden="true"></span>
<span class="label">${condition.label}</span>
<span class="state">${STATE_WORDS[condition.state]}</span>
<time datetime="${condition.at ?? ''}">${time}</time>
<span class="detail">${escape(condition.detail)}</span>
</li>`
}

function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}
