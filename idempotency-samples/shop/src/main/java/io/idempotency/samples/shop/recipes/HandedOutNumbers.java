package io.idempotency.samples.shop.recipes;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Remembers the last numbers that were handed out, to whom, and whether they were used.
 */
final class HandedOutNumbers {

	private static final int REMEMBERED = 100_000;

	private final Map<String, Ticket> tickets = new LinkedHashMap<>() {

		private static final long serialVersionUID = 1L;

		@Override
		protected boolean removeEldestEntry(Map.Entry<String, Ticket> eldest) {
			return size() > REMEMBERED;
		}

	};

	synchronized void add(String number, String customer) {
		this.tickets.put(number, new Ticket(customer, false));
	}

	/**
	 * Checks and marks in one step, so only one call for a number is the first.
	 */
	synchronized Use use(String number, String customer) {
		Ticket ticket = this.tickets.get(number);
		if (ticket == null || !ticket.customer().equals(customer)) {
			return Use.UNKNOWN;
		}
		if (ticket.used()) {
			return Use.USED;
		}
		this.tickets.put(number, new Ticket(customer, true));
		return Use.FIRST;
	}

	enum Use {

		FIRST, USED, UNKNOWN

	}

	private record Ticket(String customer, boolean used) {
	}

}
