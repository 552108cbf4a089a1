package io.idempotency.it.ai;

import io.idempotency.Idempotent;

/** A guarded service that tools call; its key is in their request. */
class Orders {

	private final Bank bank;

	Orders(Bank bank) {
		this.bank = bank;
	}

	@Idempotent(header = "io.example-order")
	public String order(String item) {
		return this.bank.pay("ordered " + item);
	}

}
