package com.example.graphql;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

import io.idempotency.Idempotent;

import org.springframework.graphql.data.method.annotation.Argument;
import org.springframework.graphql.data.method.annotation.MutationMapping;
import org.springframework.graphql.data.method.annotation.QueryMapping;
import org.springframework.stereotype.Controller;

/** Places orders and payments once for each key. */
@Controller
public class ShopController {

	private final List<Item> items = new CopyOnWriteArrayList<>();

	private final List<Payment> payments = new CopyOnWriteArrayList<>();

	@QueryMapping
	public List<Item> items() {
		return this.items;
	}

	@QueryMapping
	public List<Payment> payments() {
		return this.payments;
	}

	/** The key is in the directive of the field, else in the header of the request. */
	@MutationMapping
	@Idempotent
	public synchronized Item addItem(@Argument String sku, @Argument int quantity) {
		Item item = new Item("item-" + (this.items.size() + 1), sku, quantity);
		this.items.add(item);
		return item;
	}

	/** The key is in the input, as Relay sends it. */
	@MutationMapping
	@Idempotent(body = "/input/clientMutationId")
	public synchronized PayPayload pay(@Argument PayInput input) {
		Payment payment = new Payment("payment-" + (this.payments.size() + 1), input.cents());
		this.payments.add(payment);
		return new PayPayload(input.clientMutationId(), payment);
	}

	public record Item(String id, String sku, int quantity) {
	}

	public record PayInput(String clientMutationId, int cents) {
	}

	public record PayPayload(String clientMutationId, Payment payment) {
	}

	public record Payment(String id, int cents) {
	}

}
