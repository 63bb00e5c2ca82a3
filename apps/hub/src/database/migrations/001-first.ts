import { sql, type Kysely } from 'kysely'

/**
 * The first schema. `double precision` holds milliseconds exactly and arrives as a number from both databases. Tables
 * that grow without bound (activity, detections, visits) have no foreign key to their gateway: deleting a gateway must
 * not touch a million rows in one transaction. Ids are never reused, and the daily purge removes orphaned rows.
 */
export async function up(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  const serial = engine === 'postgres' ? sql`bigserial` : sql`integer`

  await db.schema
    .createTable('secrets')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('value', 'text', (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('settings')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('value', 'text', (c) => c.notNull())
    .execute()

  await db.schema
    .createTable('users')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('username', 'text', (c) => c.notNull())
    .addColumn('username_key', 'text', (c) => c.notNull().unique())
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('first_name', 'text', (c) => c.notNull())
    .addColumn('last_name', 'text', (c) => c.notNull())
    .addColumn('role', 'text', (c) => c.notNull().check(sql`role in ('user', 'manager', 'admin')`))
    .addColumn('active', 'integer', (c) => c.notNull())
    .addColumn('password_hash', 'text', (c) => c.notNull())
    .addColumn('two_factor_secret', 'text')
    .addColumn('two_factor_pending', 'text')
    .addColumn('two_factor_step', 'double precision')
    .addColumn('last_login_at', 'double precision')
    .addColumn('created_at', 'double precision', (c) => c.notNull())
    .execute()

  await db.schema
    .createTable('sessions')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('created_at', 'double precision', (c) => c.notNull())
    .addColumn('expires_at', 'double precision', (c) => c.notNull())
    .addColumn('source_ip', 'text', (c) => c.notNull())
    .addColumn('user_agent', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('sessions_by_user').on('sessions').column('user_id').execute()

  await db.schema
    .createTable('recovery_codes')
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('code_hash', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('recovery_codes_key', ['user_id', 'code_hash'])
    .execute()
  await db.schema
    .createTable('sign_in_challenges')
    .addColumn('token_hash', 'text', (c) => c.primaryKey())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('source', 'text', (c) => c.notNull())
    .addColumn('expires_at', 'double precision', (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('sign_in_challenges_by_user').on('sign_in_challenges').column('user_id').execute()
  await db.schema
    .createTable('user_invitations')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('label', 'text', (c) => c.notNull())
    .addColumn('code_hash', 'text', (c) => c.notNull().unique())
    .addColumn('role', 'text', (c) => c.notNull())
    .addColumn('max_uses', 'integer', (c) => c.notNull())
    .addColumn('uses', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'double precision', (c) => c.notNull())
    .addColumn('revoked_at', 'double precision')
    .addColumn('created_by', 'text', (c) => c.notNull())
    .addColumn('created_at', 'double precision', (c) => c.notNull())
    .execute()

  await db.schema
    .createTable('gateways')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addColumn('name_key', 'text', (c) => c.notNull().unique())
    .addColumn('location', 'text', (c) => c.notNull())
    .addColumn('description', 'text', (c) => c.notNull())
    .addColumn('device_token', 'text', (c) => c.notNull().unique())
    .addColumn('owner_id', 'text', (c) => c.references('users.id').onDelete('set null'))
    .addColumn('identity_public_key', 'text', (c) => c.unique())
    .addColumn('wireguard_public_key', 'text', (c) => c.notNull().unique())
    .addColumn('preshared_key', 'text', (c) => c.notNull())
    .addColumn('private_key', 'text')
    .addColumn('address', 'text', (c) => c.notNull().unique())
    .addColumn('endpoint_address', 'text')
    .addColumn('endpoint_port', 'integer')
    .addColumn('last_handshake_at', 'double precision')
    .addColumn('source_ip', 'text')
    .addColumn('version', 'text')
    .addColumn('last_heartbeat_at', 'double precision')
    .addColumn('heartbeat', 'text')
    .addColumn('ui_port', 'integer', (c) => c.unique())
    .addColumn('created_at', 'double precision', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('gateways_by_owner').on('gateways').column('owner_id').execute()
  await db.schema
    .createTable('ui_ports')
    .addColumn('port', 'integer', (c) => c.primaryKey())
    .addColumn('gateway_id', 'text', (c) => c.notNull())
    .execute()

  await db.schema
    .createTable('gateway_invitations')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('label', 'text', (c) => c.notNull())
    .addColumn('code_hash', 'text', (c) => c.notNull().unique())
    .addColumn('max_uses', 'integer', (c) => c.notNull())
    .addColumn('uses', 'integer', (c) => c.notNull())
    .addColumn('expires_at', 'double precision', (c) => c.notNull())
    .addColumn('revoked_at', 'double precision')
    .addColumn('created_at', 'double precision', (c) => c.notNull())
    .addColumn('created_by', 'text', (c) => c.notNull())
    .execute()
  await db.schema
    .createTable('registrations')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('status', 'text', (c) => c.notNull().check(sql`status in ('pending', 'approved', 'rejected')`))
    .addColumn('identity_public_key', 'text', (c) => c.notNull())
    .addColumn('wireguard_public_key', 'text', (c) => c.notNull())
    .addColumn('key_change_for', 'text', (c) => c.references('gateways.id').onDelete('cascade'))
    .addColumn('device_name', 'text', (c) => c.notNull())
    .addColumn('device_location', 'text', (c) => c.notNull())
    .addColumn('device_version', 'text', (c) => c.notNull())
    .addColumn('mac_address', 'text', (c) => c.notNull())
    .addColumn('device_token', 'text', (c) => c.notNull())
    .addColumn('source_ip', 'text', (c) => c.notNull())
    .addColumn('owner_id', 'text', (c) => c.references('users.id').onDelete('set null'))
    .addColumn('invitation_id', 'text', (c) => c.references('gateway_invitations.id').onDelete('set null'))
    .addColumn('needs_person', 'integer', (c) => c.notNull().defaultTo(0))
    .addColumn('reason', 'text')
    .addColumn('gateway_id', 'text', (c) => c.references('gateways.id').onDelete('set null'))
    .addColumn('requested_at', 'double precision', (c) => c.notNull())
    .addColumn('decided_at', 'double precision')
    .addColumn('decided_by', 'text')
    .addUniqueConstraint('registrations_keys', ['identity_public_key', 'wireguard_public_key'])
    .execute()
  await db.schema
    .createIndex('registrations_by_status')
    .on('registrations')
    .columns(['status', 'requested_at'])
    .execute()
  await db.schema.createIndex('registrations_by_token').on('registrations').column('device_token').execute()
  await db.schema.createIndex('registrations_by_gateway').on('registrations').column('gateway_id').execute()

  await db.schema
    .createTable('notifications')
    .addColumn('id', serial, (c) => c.primaryKey())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('channel', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('content', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .addColumn('created_at', 'double precision', (c) => c.notNull())
    .addColumn('due_at', 'double precision', (c) => c.notNull())
    .addColumn('error', 'text')
    .addUniqueConstraint('notifications_key', ['key', 'channel'])
    .execute()
  await db.schema.createIndex('notifications_by_state').on('notifications').columns(['state', 'due_at']).execute()

  await db.schema
    .createTable('detections')
    .addColumn('gateway_id', 'text', (c) => c.notNull())
    .addColumn('id', 'text', (c) => c.notNull())
    .addColumn('camera', 'text', (c) => c.notNull())
    .addColumn('label', 'text', (c) => c.notNull())
    .addColumn('severity', 'text', (c) => c.notNull())
    .addColumn('score', 'double precision', (c) => c.notNull())
    .addColumn('started_at', 'double precision', (c) => c.notNull())
    .addColumn('ended_at', 'double precision')
    .addColumn('thumbnail', 'text')
    .addColumn('validated', 'integer')
    .addColumn('false_positive', 'integer')
    .addColumn('deterrent', 'text')
    .addColumn('received_at', 'double precision', (c) => c.notNull())
    .addPrimaryKeyConstraint('detections_key', ['gateway_id', 'id'])
    .execute()
  await db.schema.createIndex('detections_by_time').on('detections').columns(['started_at']).execute()
  await db.schema
    .createIndex('detections_by_gateway')
    .on('detections')
    .columns(['gateway_id', 'started_at', 'id'])
    .execute()

  await db.schema
    .createTable('activity')
    .addColumn('id', serial, (c) => c.primaryKey())
    .addColumn('at', 'double precision', (c) => c.notNull())
    .addColumn('type', 'text', (c) => c.notNull())
    .addColumn('message', 'text', (c) => c.notNull())
    .addColumn('gateway_id', 'text')
    .execute()
  await db.schema.createIndex('activity_by_time').on('activity').columns(['at', 'id']).execute()
  await db.schema.createIndex('activity_by_gateway').on('activity').columns(['gateway_id', 'at', 'id']).execute()
  await db.schema
    .createTable('hourly_stats')
    .addColumn('hour', 'double precision', (c) => c.notNull())
    .addColumn('scope', 'text', (c) => c.notNull())
    .addColumn('active_connections', 'integer', (c) => c.notNull())
    .addColumn('threats', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('hourly_stats_key', ['hour', 'scope'])
    .execute()
  let hours = db.schema
    .createTable('gateway_hours')
    .addColumn('gateway_id', 'text', (c) => c.notNull())
    .addColumn('hour', 'double precision', (c) => c.notNull())
    .addColumn('heartbeats', 'integer', (c) => c.notNull())
    .addColumn('temperatures', 'integer', (c) => c.notNull())
  for (const measure of ['load', 'memory', 'disk', 'temperature'])
    for (const figure of ['sum', 'max'])
      hours = hours.addColumn(`${measure}_${figure}`, 'double precision', (c) => c.notNull())
  for (const direction of ['received', 'sent'])
    hours = hours.addColumn(`${direction}_bytes`, 'double precision', (c) => c.notNull())
  await hours.addPrimaryKeyConstraint('gateway_hours_key', ['gateway_id', 'hour']).execute()
  await db.schema.createIndex('gateway_hours_by_time').on('gateway_hours').column('hour').execute()

  await db.schema
    .createTable('audit')
    .addColumn('id', serial, (c) => c.primaryKey())
    .addColumn('at', 'double precision', (c) => c.notNull())
    .addColumn('actor', 'text', (c) => c.notNull())
    .addColumn('actor_id', 'text')
    .addColumn('action', 'text', (c) => c.notNull())
    .addColumn('target', 'text')
    .addColumn('source_ip', 'text')
    .addColumn('result', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('audit_by_time').on('audit').columns(['at', 'id']).execute()
  await keepAudit(db, engine)
  await db.schema
    .createTable('ui_access')
    .addColumn('id', serial, (c) => c.primaryKey())
    .addColumn('gateway_id', 'text', (c) => c.notNull())
    .addColumn('user_id', 'text', (c) => c.notNull().references('users.id').onDelete('cascade'))
    .addColumn('started_at', 'double precision', (c) => c.notNull())
    .addColumn('source_ip', 'text', (c) => c.notNull())
    .execute()
  await db.schema.createIndex('ui_access_by_gateway').on('ui_access').columns(['gateway_id', 'started_at']).execute()
  await db.schema.createIndex('ui_access_by_time').on('ui_access').column('started_at').execute()
}

/**
 * Entries may be added, never changed, and deleted only when they are older than `logRetentionDays` (90 by default, at
 * least one). The extra hour allows for a difference between the hub's clock and the database's.
 */
async function keepAudit(db: Kysely<unknown>, engine: 'sqlite' | 'postgres'): Promise<void> {
  const saved = sql.raw(`coalesce((select value from settings where name = 'logRetentionDays'), '90')`)
  if (engine === 'sqlite') {
    await sql`create trigger audit_is_append_only before update on audit
      begin select raise(abort, 'entries are never changed'); end`.execute(db)
    await sql`create trigger audit_is_kept before delete on audit
      when old.at > unixepoch('subsec') * 1000 + 3600000 - max(1, cast(${saved} as real)) * 86400000
      begin select raise(abort, 'entries are kept until they are old'); end`.execute(db)
    return
  }
  await sql`create function refuse_update() returns trigger language plpgsql as
    $$ begin raise exception 'entries are never changed'; end $$`.execute(db)
  await sql`create trigger audit_is_append_only before update on audit
    for each row execute function refuse_update()`.execute(db)
  await sql`create function refuse_early_delete() returns trigger language plpgsql as $$ begin
      if tg_op = 'TRUNCATE' or old.at > extract(epoch from clock_timestamp()) * 1000 + 3600000
        - greatest(1, cast(${saved} as double precision)) * 86400000
      then raise exception 'entries are kept until they are old'; end if;
      return old;
    end $$`.execute(db)
  await sql`create trigger audit_is_kept before delete on audit
    for each row execute function refuse_early_delete()`.execute(db)
  await sql`create trigger audit_is_kept_whole before truncate on audit
    for each statement execute function refuse_early_delete()`.execute(db)
}
