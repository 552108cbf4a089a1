package io.idempotency.samples.shop.recipes;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;

import io.idempotency.it.client.Answer;
import io.idempotency.it.random.Seed;
import io.idempotency.it.servers.Nightly;
import io.idempotency.test.ConcurrentDuplicates;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Requests through all schemes at once, 40 % of them duplicates: a thousand, and five
 * thousand each night.
 */
class RecipeStormTests extends RecipeShop {

	private static final int CLIENTS = 32;

	/** Duplicates come while the first is still on its way, or soon after it. */
	private static final int NEAR = 60;

	private static final int SCARCE = 40;

	/** How many requests a client sends in one go. */
	private static final int SHARE = 30;

	private final Random random = Seed.random(getClass());

	/** How many there are, duplicates included. */
	int requests() {
		return Nightly.Condition.isWanted() ? 5000 : 1000;
	}

	@Test
	@Timeout(value = 10, unit = TimeUnit.MINUTES)
	void everyIntentIsOneOrderAndNothingIsSoldThatIsNotThere() throws Exception {
		List<String> products = new ArrayList<>();
		for (int i = 0; i < 7; i++) {
			products.add(newProduct(requests()));
		}
		String scarce = newProduct(SCARCE);
		List<Intent> intents = intents(products, scarce);
		Map<Intent, String> orderNos = new ConcurrentHashMap<>();
		Queue<Intent> requests = new ConcurrentLinkedQueue<>(requests(intents));
		assertThat(requests).hasSize(requests());
		while (!requests.isEmpty()) {
			// One storm after the other: each of them has two minutes.
			ConcurrentDuplicates.of(CLIENTS).run((index) -> {
				for (int i = 0; i < SHARE; i++) {
					send(requests.poll(), orderNos);
				}
				return index;
			}).valuesOrFail();
		}
		long wanted = intents.stream().filter((intent) -> !intent.sku().equals(scarce)).count();
		int sold = 0;
		for (String sku : products) {
			assertThat(stockOf(sku)).isEqualTo(requests() - ordersOf(sku)).isNotNegative();
			sold += ordersOf(sku);
		}
		assertThat(sold).isEqualTo((int) wanted);
		assertThat(ordersOf(scarce)).isEqualTo(SCARCE);
		assertThat(stockOf(scarce)).isZero();
		assertThat(orderNos).hasSize((int) wanted + SCARCE);
		assertThat(orderNos.values()).doesNotHaveDuplicates();
	}

	private void send(@Nullable Intent intent, Map<Intent, String> orderNos) throws Exception {
		if (intent == null) {
			return;
		}
		Answer answer = order(intent.scheme(), intent.customer(), intent.requestId(), intent.sku(), 1);
		if (!isOrder(answer)) {
			assertThat(answer.status()).isEqualTo(409);
			assertThat(code(answer)).isIn("in-progress", "duplicate", "out-of-stock");
			return;
		}
		String first = orderNos.putIfAbsent(intent, orderNo(answer));
		assertThat(first).isIn(null, orderNo(answer));
	}

	/**
	 * Every scheme has as many; one in ten wants the product that there is too little of.
	 */
	private List<Intent> intents(List<String> products, String scarce) throws Exception {
		List<String> schemes = RecipesTests.all().toList();
		List<Intent> intents = new ArrayList<>();
		for (int i = 0; i < requests() * 60 / 100; i++) {
			String scheme = schemes.get(i % schemes.size());
			// Nobody wants a product twice: business fields would take that for one
			// order.
			int round = i / schemes.size();
			String customer = "customer-" + round / products.size();
			String sku = products.get(round % products.size());
			if (round % 10 == 0) {
				customer = "late-" + round;
				sku = scarce;
			}
			intents.add(new Intent(i, scheme, customer, newRequestId(scheme, customer), sku));
		}
		return intents;
	}

	private List<Intent> requests(List<Intent> intents) {
		List<Intent> requests = new ArrayList<>(intents);
		while (requests.size() < requests()) {
			requests.add(intents.get(this.random.nextInt(intents.size())));
		}
		requests.sort(Comparator.comparingInt(Intent::number));
		for (int from = 0; from < requests.size(); from += NEAR) {
			Collections.shuffle(requests.subList(from, Math.min(from + NEAR, requests.size())), this.random);
		}
		return requests;
	}

	private record Intent(int number, String scheme, String customer, String requestId, String sku) {
	}

}
