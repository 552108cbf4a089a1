package io.idempotency.samples.shop.recipes;

import java.nio.charset.StandardCharsets;
import java.util.Optional;

import com.google.common.hash.BloomFilter;
import com.google.common.hash.Funnels;
import io.idempotency.samples.shop.NewOrder;
import io.idempotency.samples.shop.Order;
import io.idempotency.samples.shop.Orders;

import org.springframework.dao.DuplicateKeyException;
import org.springframework.stereotype.Component;

/**
 * Checks before the insert and saves most of the lookups. A Bloom filter returns
 * "certainly new" or "perhaps seen", in about ten bits per request at an error rate of
 * one percent. Only "perhaps" queries the database. The filter alone is not sufficient.
 * It starts empty, so it is filled from the table. It does not see inserts of other nodes
 * or concurrent inserts, so the unique index stays. It cannot forget, so beyond its size
 * it returns "perhaps" more and more often.
 * <p>
 * <b>Mostly not worth it.</b> {@code insert} and catching the duplicate take one round
 * trip and are always correct. The filter only saves reads. It helps if most requests are
 * new, a read is expensive (another service, a huge table that is not cached), and
 * rejecting early matters, for example against a flood of made-up ids. For a few million
 * rows with an index, leave it out.
 */
@Component
class BloomRecipe implements Recipe {

	private static final String ID = "bloom";

	private static final int EXPECTED = 1_000_000;

	private static final double ERRORS = 0.01;

	/** Thread-safe, according to Guava. */
	private final BloomFilter<CharSequence> seen = BloomFilter.create(Funnels.stringFunnel(StandardCharsets.UTF_8),
			EXPECTED, ERRORS);

	private final Orders orders;

	private final NamedOrders named;

	BloomRecipe(Orders orders, NamedOrders named) {
		this.orders = orders;
		this.named = named;
		for (NewOrder.Reference reference : orders.references(ID)) {
			this.seen.put(entry(reference.customer(), reference.requestId()));
		}
	}

	@Override
	public Scheme scheme() {
		return Scheme.inDatabase(ID, "Bloom filter before the database",
				"one order for each requestId, by the unique index; the filter only saves lookups",
				"200 and the existing order");
	}

	@Override
	public Placed place(String customer, RecipeRequest request) {
		if (mayHaveSeen(customer, request.requestId())) {
			Optional<Order> existing = this.named.find(ID, customer, request);
			if (existing.isPresent()) {
				return Placed.before(existing.get());
			}
		}
		Placed placed = placeOrFind(customer, request);
		// After the commit: an order that failed was not seen.
		this.seen.put(entry(customer, request.requestId()));
		return placed;
	}

	private Placed placeOrFind(String customer, RecipeRequest request) {
		try {
			return Placed.now(this.orders.place(this.named.draft(ID, customer, request)));
		}
		catch (DuplicateKeyException ex) {
			return this.named.existing(ID, customer, request);
		}
	}

	boolean mayHaveSeen(String customer, String requestId) {
		return this.seen.mightContain(entry(customer, requestId));
	}

	private static String entry(String customer, String requestId) {
		// A requestId has no blank, so the last one is the border.
		return customer + ' ' + requestId;
	}

}
