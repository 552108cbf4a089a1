-- ARGV: whether to remove the record of a call in progress
-- Replies 0 for an absent record, 1 if the record was removed, 2 if its call is in progress.
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
