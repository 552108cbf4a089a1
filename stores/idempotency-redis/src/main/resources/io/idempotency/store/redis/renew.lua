-- ARGV: claim id, lease
-- Replies 1 if accepted, 0 if rejected.
if not record or record.state ~= RUNNING or not owns(record, ARGV[1]) then
	return 0
end
record.leaseUntil = now + tonumber(ARGV[2])
write(record)
return 1
