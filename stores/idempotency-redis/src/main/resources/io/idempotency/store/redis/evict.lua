-- ARGV: whether a record that a live call holds is removed too
-- Replies 0 for an absent record, 1 if the record was removed, 2 if a live call holds it.
if not record then
	return 0
end
local held = (record.state == RUNNING and record.flags ~= NOBODYS or record.state == EXECUTED)
	and now < record.leaseUntil
if held and ARGV[1] ~= '1' then
	return 2
end
redis.call('DEL', key)
return 1
