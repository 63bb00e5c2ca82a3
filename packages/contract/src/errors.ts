import { z } from 'zod'

/**
 * Every reason for which the hub refuses a request, with its HTTP status and the sentence for people. A released code
 * keeps its meaning. docs/api.md has an anchor for each.
 */
export const errorTable = {
  invalid_request: { status: 400, message: 'The request is not valid.' },
  invalid_json: { status: 400, message: 'The request body is not valid JSON.' },
  json_too_complex: {
    status: 400,
    message: 'The request body has too many levels or values, or a name or number that is too long.',
  },
  session_required: { status: 401, message: 'Sign in to continue.' },
  session_ended: { status: 401, message: 'Your session has expired. Please log in again.' },
  invalid_credentials: { status: 401, message: 'The username or the password is wrong.' },
  challenge_ended: { status: 401, message: 'This sign-in took too long or had too many wrong codes. Sign in again.' },
  two_factor_code_wrong: { status: 400, message: 'This code is wrong, or was already used.' },
  two_factor_setup_required: {
    status: 409,
    message: 'This hub requires two-factor sign-in. Set it up to continue.',
  },
  two_factor_enabled: { status: 409, message: 'Two-factor sign-in is already switched on.' },
  two_factor_disabled: { status: 409, message: 'Two-factor sign-in is not set up.' },
  password_wrong: { status: 400, message: 'The current password is wrong.' },
  password_too_weak: { status: 400, message: 'This password is too easy to guess. Choose another.' },
  registration_closed: { status: 403, message: 'Registration is closed. Ask an administrator for an account.' },
  invite_code_invalid: { status: 400, message: 'This invite code is invalid, used up or expired.' },
  username_taken: { status: 409, message: 'This username is taken, or looks like one that is taken.' },
  user_not_found: { status: 404, message: 'This user no longer exists.' },
  session_not_found: { status: 404, message: 'This session has already ended.' },
  user_invitation_not_found: { status: 404, message: 'This invitation no longer exists.' },
  changed_meanwhile: {
    status: 409,
    message: 'Somebody else changed this meanwhile. Look at it again, and repeat your change.',
  },
  reset_link_invalid: {
    status: 403,
    message: 'This link was used already, or is older than 30 minutes. Ask for a new one.',
  },
  mail_unavailable: {
    status: 409,
    message: 'This hub sends no mail. An administrator sets a mail server up under Alert Rules, Channels.',
  },
  token_not_allowed: {
    status: 403,
    message: 'A token may not make this call. Use one that may change things, or sign in.',
  },
  token_role_too_high: {
    status: 403,
    message: 'A token cannot have a higher role than its person. Choose a lower one.',
  },
  token_name_taken: { status: 409, message: 'You have a token of this name. Choose another name.' },
  too_many_tokens: { status: 409, message: 'You have 50 tokens already. Revoke one first.' },
  token_not_found: { status: 404, message: 'This token is not yours, or was revoked. Load the list again.' },
  last_admin: { status: 409, message: 'The hub needs an active admin, and this is the last one.' },
  account_inactive: { status: 403, message: 'This account has been deactivated. Ask an administrator to activate it.' },
  local_sign_in_off: { status: 403, message: 'This hub accepts no passwords. Sign in with a provider.' },
  provider_not_found: { status: 404, message: 'This hub has no such sign-in provider.' },
  provider_unavailable: {
    status: 502,
    message: 'The sign-in provider does not answer as this hub expects. Try again later, or sign in another way.',
  },
  provider_sign_in_ended: {
    status: 400,
    message: 'This sign-in began in another tab, was used already, or took longer than 10 minutes. Begin again.',
  },
  provider_answer_refused: {
    status: 400,
    message: 'The provider refused this sign-in, or its answer is not valid. Begin again.',
  },
  provider_gives_no_role: {
    status: 403,
    message: 'Your account at the provider may not use this hub. Ask an administrator.',
  },
  provider_account_taken: { status: 409, message: 'Another person of this hub has this account at the provider.' },
  provider_link_not_found: { status: 404, message: 'This link no longer exists.' },
  password_too_long_ago: {
    status: 409,
    message: 'Sign in with your password again, and link the account at the provider within 5 minutes.',
  },
  only_way_in: { status: 409, message: 'You have no password, so this is your only way to sign in.' },
  logout_token_invalid: { status: 400, message: 'The logout token is not valid.' },
  role_required: { status: 403, message: 'Your role does not allow this.' },
  application_role_required: { status: 403, message: 'Your role does not allow this application.' },
  not_found: { status: 404, message: 'There is nothing at this address.' },
  gateway_not_found: { status: 404, message: 'This gateway does not exist, or you may not see it.' },
  application_not_found: { status: 404, message: 'This gateway does not offer this application.' },
  detection_not_found: { status: 404, message: 'This detection does not exist, or has no picture.' },
  alert_rule_not_found: { status: 404, message: 'This alert rule does not exist.' },
  too_many_alert_rules: { status: 409, message: 'There are 100 alert rules already. Delete one first.' },
  alert_not_found: { status: 404, message: 'This alert does not exist, or you may not see it.' },
  alert_link_invalid: { status: 403, message: 'This link is not complete, or is older than 7 days.' },
  delivery_not_found: { status: 404, message: 'This message is no longer in the log.' },
  delivery_under_way: { status: 409, message: 'This message is being sent, or was not due yet.' },
  channel_off: { status: 409, message: 'This channel is off, so nothing is sent over it.' },
  channel_not_found: { status: 404, message: 'This hub has no such channel.' },
  channel_set_by_variable: {
    status: 409,
    message: 'The hub’s variables set this channel up, so it cannot be changed here.',
  },
  push_endpoint_refused: {
    status: 400,
    message: 'This is not the address of a push service on the Internet, with the keys of a browser.',
  },
  too_many_push_subscriptions: { status: 409, message: 'You have 20 browsers already. Remove one first.' },
  push_subscription_not_found: { status: 404, message: 'This browser is not one of yours, or was removed.' },
  incident_not_found: { status: 404, message: 'This incident does not exist, or you may not see it.' },
  review_not_found: { status: 404, message: 'This review is not yours, was undone, or is too old to be undone.' },
  invitation_not_found: { status: 404, message: 'This invitation does not exist.' },
  labels_invalid: { status: 400, message: 'Nothing was made: some lines of the file are wrong.' },
  registration_not_found: { status: 404, message: 'This registration request no longer exists.' },
  range_not_satisfiable: { status: 416, message: 'This part is outside the file.' },
  method_not_allowed: { status: 405, message: 'This address does not accept that method.' },
  registration_decided: { status: 409, message: 'This registration request has already been decided.' },
  gateway_limit_reached: {
    status: 409,
    message: 'The hub is full. Raise the maximum number of gateways under Settings, or delete a gateway.',
  },
  address_pool_exhausted: {
    status: 409,
    message:
      'No address is free in the VPN network. Set a larger network under Settings, Network, or delete a gateway.',
  },
  gateway_name_taken: { status: 409, message: 'Another gateway already has this name.' },
  too_many_tags: { status: 409, message: 'A gateway can have 20 tags.' },
  confirmation_mismatch: { status: 400, message: "The name you typed is not the gateway's name." },
  vpn_network_in_use: { status: 409, message: 'Gateways have addresses outside that network.' },
  vpn_start_failed: { status: 409, message: "The hub's VPN could not be started." },
  device_token_taken: {
    status: 409,
    message: 'Another gateway has the same device token. Delete that gateway first, or reject this request.',
  },
  claim_refused: { status: 404, message: 'No gateway that you can claim has this device token.' },
  claim_locked: { status: 429, message: 'Too many wrong device tokens. Try again in 15 minutes.' },
  vpn_unavailable: { status: 503, message: "The hub's VPN is switched on but is not running." },
  second_look_unavailable: { status: 409, message: 'This hub offers no second look.' },
  vpn_disabled: { status: 409, message: "The hub's VPN is switched off." },
  payload_too_large: { status: 413, message: 'The request body is too large.' },
  request_head_too_large: {
    status: 431,
    message: 'The browser sent too many cookies. They were cleared: load this page again.',
  },
  unsupported_media_type: { status: 415, message: 'The request body must be JSON.' },
  too_many_requests: { status: 429, message: 'Too many requests. Try again in a moment.' },
  hub_busy: { status: 503, message: 'The hub is busy. Try again after the seconds of Retry-After.' },
  detections_over_quota: {
    status: 429,
    message: 'This gateway sends more detections than the settings of the hub allow. They can come later.',
  },
  storage_low: {
    status: 503,
    message: "The hub's disk is nearly full: it accepts nothing from gateways until there is space again.",
  },
  challenge_unknown: {
    status: 409,
    message: 'The challenge is unknown, already used or older than two minutes. Ask for a new one.',
  },
  proof_invalid: { status: 403, message: 'The proof does not show possession of the WireGuard key.' },
  signature_invalid: { status: 403, message: 'The signature does not match the identity key and the request.' },
  sealed_invalid: { status: 400, message: 'The sealed part of the registration cannot be opened.' },
  request_replayed: {
    status: 409,
    message: 'This signed request was already used, or its time is off by more than two minutes.',
  },
  key_invalid: { status: 400, message: 'A public key is not valid.' },
  pending_limit_reached: {
    status: 503,
    message: 'Too many registration requests are waiting for a decision. Try again later.',
  },
  gateway_unknown: { status: 403, message: "This is not one of the hub's gateways." },
  browser_refused: { status: 403, message: 'Only devices may make this call, not pages in a browser.' },
  snooze_time_invalid: { status: 400, message: 'Nothing was snoozed. Give a time from a minute to 366 days from now.' },
  gateway_takes_no_commands: {
    status: 409,
    message: 'This gateway runs no agent that takes commands.',
  },
  no_release: { status: 409, message: 'This hub has no release of the gateway: its folder of downloads is empty.' },
  gateway_cannot_update: {
    status: 409,
    message: 'This gateway already runs the release that the hub has, or cannot replace its program itself.',
  },
  rollout_not_running: { status: 409, message: 'No automatic updates to this release are under way.' },
  update_not_open: { status: 409, message: 'The hub waits for no automatic update of this gateway.' },
  site_not_found: { status: 404, message: 'This site does not exist.' },
  site_name_taken: { status: 409, message: 'Another site already has this name. Choose another one.' },
  site_in_use: { status: 409, message: 'An alert rule names this site. Change the rule first.' },
  rollout_not_stopped: { status: 409, message: 'The automatic updates to this release did not stop.' },
  export_busy: {
    status: 503,
    message: 'You have an export running already, or others have too many. Try again when one is done.',
  },
  too_many_saved_views: { status: 409, message: 'You have 50 saved views already. Delete one first.' },
  picture_unavailable: { status: 502, message: 'The gateway has no picture of this camera right now.' },
  learning_unavailable: {
    status: 502,
    message: 'The agent of this gateway is too old to report what it learned. Update it.',
  },
  snapshot_unavailable: { status: 502, message: 'The gateway has no snapshot of this detection.' },
  clip_not_finished: {
    status: 409,
    message: 'The gateway is still filming this. The clip is there some seconds after it has ended.',
  },
  clip_unavailable: { status: 502, message: 'The gateway has no clip of this detection.' },
  clip_link_invalid: { status: 403, message: 'This address of a clip is unknown or older than 30 minutes.' },
  pictures_busy: {
    status: 503,
    message: 'Too many pictures and clips are being read right now. Try again in a moment.',
  },
  gateway_unreachable: { status: 502, message: 'The gateway does not answer through the tunnel.' },
  ticket_invalid: { status: 403, message: 'The ticket is unknown, already used or older than 30 seconds.' },
  origin_not_allowed: { status: 403, message: 'Requests from this origin are not accepted.' },
  gateway_origin_required: {
    status: 409,
    message:
      'This page came over https, but HUB_HTTPS_PORT is off, so the hub has no https for pages of gateways. An ' +
      'administrator switches it on, or sets HUB_GATEWAY_ORIGIN.',
  },
  gateway_ports_exhausted: {
    status: 409,
    message: 'No port is left for the page of this gateway. Widen HUB_GATEWAY_PORTS or set HUB_GATEWAY_ORIGIN.',
  },
  gateway_port_unavailable: {
    status: 503,
    message: 'The port for the page of this gateway is in use by another program on the hub.',
  },
  service_worker_refused: { status: 403, message: 'Service workers are not available on this address.' },
  certificate_not_found: { status: 404, message: 'The hub has no such certificate.' },
  certificate_not_renewable: {
    status: 409,
    message: 'The hub did not issue this certificate. Renew it at its issuer and replace its files.',
  },
  too_many_streams: { status: 429, message: 'You have too many live views open. Close some of them.' },
  storage_unavailable: { status: 503, message: 'The hub cannot write to its database right now.' },
  internal_error: { status: 500, message: 'Something went wrong in the hub. Its log has the details.' },
} as const satisfies Record<string, { status: number; message: string }>

export type ErrorCode = keyof typeof errorTable

/** The body of every refusal. `fieldErrors` has a sentence for each wrong field of the request. */
export const errorBody = z.object({
  error: z.enum(Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]]),
  message: z.string(),
  fieldErrors: z.record(z.string(), z.string()).optional(),
})
export type ErrorBody = z.output<typeof errorBody>
