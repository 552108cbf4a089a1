-- ARGV: claim id, fence, fingerprint, state to write, retention, attach within, format, body
-- Replies 1 if accepted, 0 if refused.
local id, fence, fingerprint, state = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local retention, attachWithin, format, body = tonumber(ARGV[5]), tonumber(ARGV[6]), ARGV[7], ARGV[8]

local claimed = record and record.state ~= ISSUED

if not claimed then
	-- A late success is kept if its claim is younger than the retention; the fence is the
	-- time of the claim.
	if retention > 0 and now >= fence + retention then
		return 0
	end
elseif record.state == ONCE then
	return 0
elseif record.state == RUNNING and record.flags == NOBODYS then
	-- The late owner may have had another request.
	if record.fingerprint ~= fingerprint then
		return 0
	end
elseif record.id ~= string.sub(id, -#record.id) then
	return 0
elseif record.state == RESULT or record.state == TOMBSTONE then
	touch(record)
	return 1
end

if retention == 0 then
	redis.call('DEL', key)
	return 1
end

write({
	state = state, id = id, fence = claimed and record.fence or fence, leaseUntil = now + math.min(attachWithin, retention), keptUntil = now + retention,
	fingerprint = claimed and record.fingerprint or fingerprint, format = format, origin = claimed and record.origin or ''
}, body)
return 1
