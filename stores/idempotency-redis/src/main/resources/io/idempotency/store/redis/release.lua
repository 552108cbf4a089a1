-- ARGV: claim id
-- Replies 1 if accepted, 0 if rejected.
local id = ARGV[1]

if not record or record.state == ISSUED then
	return 1
end

if record.state == RUNNING then
	if record.flags == NOBODYS then
		-- The claim does not exist. This release may have been sent before.
		return 1
	end
	if record.id ~= id then
		return 0
	end
	if record.flags == ABANDONED then
		-- The call of the crashed owner may have taken effect, so a successor that failed
		-- must not delete the record.
		record.flags = NOBODYS
		record.leaseUntil = now
		write(record)
		return 1
	end
elseif record.state ~= ONCE or record.id ~= id then
	return 0
end

if now < record.tokenUntil then
	write({
		state = ISSUED, fence = record.fence, keptUntil = record.tokenUntil, tokenUntil = record.tokenUntil,
		fingerprint = '', origin = ''
	})
else
	redis.call('DEL', key)
end
return 1
