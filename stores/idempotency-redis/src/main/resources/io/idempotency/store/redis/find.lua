-- Replies the parts of the record that are shown to operators, and the time; nothing for an absent
-- record.
if not record then
	return {}
end
return { record.state, record.flags or 0, record.fence, record.leaseUntil or 0, record.keptUntil,
	record.attempts or 0, now, record.origin }
