package io.idempotency.samples.shop.recipes;

import io.idempotency.samples.shop.Orders;
import io.idempotency.samples.shop.ShopClient;
import io.idempotency.samples.shop.ShopException;
import io.idempotency.samples.shop.numbers.OrderNumbers;
import org.junit.jupiter.api.Test;

import org.springframework.beans.factory.annotation.Autowired;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * What the surface does not show: calls that slept too long, and processes that forgot.
 */
class RecipeInternalsTests extends RecipeShop {

	@Autowired
	private Carts carts;

	@Autowired
	private Orders orders;

	@Autowired
	private NamedOrders named;

	@Autowired
	private OrderNumbers numbers;

	@Test
	void statusThatHasComeBackFoolsTheStateMachineButNotTheVersion() {
		Cart seenLongAgo = this.carts.open("version", "alice", ShopClient.newKey());
		assertThat(this.carts.orderIfUnchanged(seenLongAgo)).isTrue();
		assertThat(this.carts.reopen(seenLongAgo)).isTrue();
		assertThat(this.carts.orderIfUnchanged(seenLongAgo)).isFalse();
		assertThat(this.carts.orderIfOpen(seenLongAgo)).isTrue();
	}

	@Test
	void cartIsOrderedOnceByStatusAndByVersion() {
		Cart byStatus = this.carts.open("state-machine", "alice", ShopClient.newKey());
		assertThat(this.carts.orderIfOpen(byStatus)).isTrue();
		assertThat(this.carts.orderIfOpen(byStatus)).isFalse();
		Cart byVersion = this.carts.open("version", "alice", ShopClient.newKey());
		assertThat(this.carts.orderIfUnchanged(byVersion)).isTrue();
		assertThat(this.carts.orderIfUnchanged(byVersion)).isFalse();
	}

	@Test
	void bloomFilterKnowsAfterARestartWhatWasOrderedBefore() {
		RecipeRequest request = new RecipeRequest(newProduct(10), 1, ShopClient.newKey());
		BloomRecipe before = new BloomRecipe(this.orders, this.named);
		assertThat(before.mayHaveSeen("alice", request.requestId())).isFalse();
		Placed placed = before.place("alice", request);
		assertThat(before.mayHaveSeen("alice", request.requestId())).isTrue();
		BloomRecipe restarted = new BloomRecipe(this.orders, this.named);
		assertThat(restarted.mayHaveSeen("alice", request.requestId())).isTrue();
		assertThat(restarted.place("alice", request)).isEqualTo(Placed.before(placed.order()));
	}

	@Test
	void indexCatchesWhatTheBloomFilterOfThisNodeHasNotSeen() {
		RecipeRequest request = new RecipeRequest(newProduct(10), 1, ShopClient.newKey());
		BloomRecipe here = new BloomRecipe(this.orders, this.named);
		BloomRecipe elsewhere = new BloomRecipe(this.orders, this.named);
		Placed placed = elsewhere.place("alice", request);
		assertThat(here.mayHaveSeen("alice", request.requestId())).isFalse();
		assertThat(here.place("alice", request)).isEqualTo(Placed.before(placed.order()));
		assertThat(stockOf(request.sku())).isEqualTo(9);
	}

	@Test
	void usedOrderNumberIsKnownAfterARestartAndAnUnusedOneIsNot() {
		OrderNumberRecipe before = new OrderNumberRecipe(this.numbers, this.orders);
		String sku = newProduct(10);
		RecipeRequest used = new RecipeRequest(sku, 1, before.newNumber("alice"));
		RecipeRequest unused = new RecipeRequest(sku, 1, before.newNumber("alice"));
		Placed placed = before.place("alice", used);
		OrderNumberRecipe restarted = new OrderNumberRecipe(this.numbers, this.orders);
		assertThat(restarted.place("alice", used)).isEqualTo(Placed.before(placed.order()));
		assertThatExceptionOfType(ShopException.class).isThrownBy(() -> restarted.place("alice", unused));
		assertThat(ordersOf(sku)).isEqualTo(1);
	}

}
