package io.idempotency.interceptor;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

import io.idempotency.Idempotent;
import org.junit.jupiter.api.Test;

import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Properties of parameters in expressions.
 */
class ExpressionPropertyTests {

	@Test
	void rejectsUnknownPropertyOfFinalType() {
		Rejections.assertRejected(NoProperty.class,
				"its key expression '#order.idd' refers to 'idd', which Order does not have",
				"Use one of: byName, id, item");
		Rejections.assertRejected(NoPropertyOfFinalClass.class, "refers to 'idd', which Final does not have",
				"Use one of: id, open, ready, size");
		Rejections.assertRejected(NullSafe.class, "refers to 'idd'", "id");
		Rejections.assertRejected(NoPropertyInList.class, "refers to 'itm'", "item");
		Rejections.assertRejected(NoPropertyInTernary.class, "refers to 'idd'", "id");
		Rejections.assertRejected(NoPropertyInArgument.class, "refers to 'idd'", "id");
		Rejections.assertRejected(NoPropertyByPosition.class, "refers to 'idd'", "id");
		Rejections.assertRejected(NoPropertyOfPrimitive.class, "refers to 'value', which Integer does not have", "");
		Rejections.assertRejected(NoPropertyOfEnum.class, "refers to 'label', which Size does not have", "");
		Rejections.assertRejected(NoPropertyInScope.class, "its scope expression '#order.tenant' refers to 'tenant'",
				"id");
		Rejections.assertRejected(NoPropertyInFingerprint.class, "its fingerprint expression", "item");
		Rejections.assertRejected(NoPropertyInCondition.class, "its condition expression", "id");
	}

	@Test
	void acceptsOtherExpressions() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(Property.class, Nested.class,
				Getter.class, Opened.class, AnyMap.class, AnyObject.class, AnyInterface.class, AnyClass.class,
				AnyOptional.class, ArrayLength.class)) {
			assertThat(context.isActive()).isTrue();
		}
	}

	@Test
	void sortedElementsOfASetAreOneKeyInAnyOrder() {
		try (AnnotationConfigApplicationContext context = MethodAdapterSetup.start(SortedSets.class)) {
			SortedSets bean = context.getBean(SortedSets.class);
			List<Item> items = List.of(new Item("b", 1), new Item("a", 2));
			bean.run(new LinkedHashSet<>(items));
			bean.run(new LinkedHashSet<>(List.of(items.get(1), items.get(0))));
			assertThat(context.getBean(TestStore.class).claims()).extracting((claim) -> claim.key().hashHex())
				.hasSize(2)
				.containsOnly(context.getBean(TestStore.class).lastClaim().key().hashHex());
		}
	}

	record Item(String sku, int price) {
	}

	record Order(String id, Item item, List<Item> items, Map<String, Item> byName, Object payload) {
	}

	enum Size {

		SMALL

	}

	interface Animal {

	}

	static class Open {

		public final String open = "";

		public String getId() {
			return "7";
		}

		public boolean isReady() {
			return true;
		}

		public int size() {
			return 1;
		}

	}

	static final class Final extends Open {

	}

	static class NoProperty {

		@Idempotent(key = "#order.idd")
		public void run(Order order) {
		}

	}

	static class NoPropertyOfFinalClass {

		@Idempotent(key = "#bean.idd")
		public void run(Final bean) {
		}

	}

	static class NullSafe {

		@Idempotent(key = "#order?.idd")
		public void run(Order order) {
		}

	}

	static class NoPropertyInList {

		@Idempotent(key = "{#order.id, #order.itm}")
		public void run(Order order) {
		}

	}

	static class NoPropertyInTernary {

		@Idempotent(key = "#order != null ? #order.idd : 'none'")
		public void run(Order order) {
		}

	}

	static class NoPropertyInArgument {

		@Idempotent(key = "'a'.concat(#order.idd)")
		public void run(Order order) {
		}

	}

	static class NoPropertyByPosition {

		@Idempotent(key = "#a0.idd")
		public void run(Order order) {
		}

	}

	static class NoPropertyOfPrimitive {

		@Idempotent(key = "#count.value")
		public void run(int count) {
		}

	}

	static class NoPropertyOfEnum {

		@Idempotent(key = "#size.label")
		public void run(Size size) {
		}

	}

	static class NoPropertyInScope {

		@Idempotent(key = "#order.id", scope = "#order.tenant")
		public void run(Order order) {
		}

	}

	static class NoPropertyInFingerprint {

		@Idempotent(key = "#order.id", fingerprint = "#order.itm")
		public void run(Order order) {
		}

	}

	static class NoPropertyInCondition {

		@Idempotent(key = "#order.id", condition = "#order.paid")
		public void run(Order order) {
		}

	}

	static class Property {

		@Idempotent(key = "#order.id")
		public void run(Order order) {
		}

	}

	static class Nested {

		@Idempotent(key = "{#order.item.sku, #order.items[0].price, #order.byName['x'].sku, #order.payload.any}")
		public void run(Order order) {
		}

	}

	static class Getter {

		@Idempotent(key = "{#bean.id, #bean.ready, #bean.open, #bean.size}")
		public void run(Final bean) {
		}

	}

	static class Opened {

		@Idempotent(key = "#bean.ofASubclass")
		public void run(Open bean) {
		}

	}

	static class AnyMap {

		@Idempotent(key = "#map.whatever")
		public void run(Map<String, Object> map) {
		}

	}

	static class AnyObject {

		@Idempotent(key = "#any.whatever")
		public void run(Object any) {
		}

	}

	static class AnyInterface {

		@Idempotent(key = "#animal.bark")
		public void run(Animal animal) {
		}

	}

	static class AnyClass {

		@Idempotent(key = "#type.MAX_VALUE")
		public void run(Class<?> type) {
		}

	}

	static class AnyOptional {

		@Idempotent(key = "#id.value")
		public void run(Optional<Order> id) {
		}

	}

	static class ArrayLength {

		@Idempotent(key = "#items.length")
		public void run(Item[] items) {
		}

	}

	static class SortedSets {

		@Idempotent(key = "new java.util.TreeSet(#items.![sku])")
		public void run(Set<Item> items) {
		}

	}

}
