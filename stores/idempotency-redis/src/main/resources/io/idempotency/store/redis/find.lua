-- Replies the parts of the record that operators see, and the time; nothing for an absent record.
if not record then
	return {}
end
return { record.state, record.flags, record.fence, record.leaseUntil, record.keptUntil, record.attempts, now,
	record.origin }
