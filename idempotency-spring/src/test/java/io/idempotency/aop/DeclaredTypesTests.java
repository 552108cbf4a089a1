package io.idempotency.aop;

import java.util.ArrayList;
import java.util.Date;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;

import io.idempotency.Idempotent;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the declared types of arguments tell about expressions is told at start-up, and
 * what they do not tell is left to the call.
 */
class DeclaredTypesTests {

	/** What is taken from a set one by one is a list in an order of the node. */
	@Test
	void theOrderOfASetIsNoKey() {
		Refusals.assertRefused(ProjectedSet.class, "the elements of a set in their order", "java.util.TreeSet");
		Refusals.assertRefused(SelectedSet.class, "the elements of a set in their order", "java.util.TreeSet");
		try (AnnotationConfigApplicationContext context = MethodDoorSetup.start(SortedSets.class)) {
			SortedSets bean = context.getBean(SortedSets.class);
			List<Item> items = List.of(new Item("b", 1), new Item("a", 2));
			bean.run(new LinkedHashSet<>(items));
			bean.run(new LinkedHashSet<>(List.of(items.get(1), items.get(0))));
			assertThat(context.getBean(TestStore.class).claims()).extracting((claim) -> claim.key().hashHex())
				.hasSize(2)
				.containsOnly(context.getBean(TestStore.class).lastClaim().key().hashHex());
		}
	}

	static class ProjectedSet {

		@Idempotent(key = "#items.![sku]")
		public void run(Set<Item> items) {
		}

	}

	static class SelectedSet {

		@Idempotent(key = "#skus.?[length > 1]")
		public void run(Set<String> skus) {
		}

	}

	static class SortedSets {

		@Idempotent(key = "new java.util.TreeSet(#items.![sku])")
		public void run(Set<Item> items) {
		}

		@Idempotent("#skus")
		public void runAll(Set<String> skus) {
		}

		@Idempotent("#skus.![length]")
		public void runSorted(SortedSet<String> skus) {
		}

	}

	@Test
	void whatNoArgumentCanHaveIsRefused() {
		Refusals.assertRefused(NoProperty.class,
				"its key expression '#order.idd' refers to 'idd', which Order does not have",
				"Use one of: byName, id, item");
		Refusals.assertRefused(NullSafe.class, "refers to 'idd'", "id");
		Refusals.assertRefused(NoNestedProperty.class, "refers to 'skuu', which Item does not have",
				"Use one of: price, sku");
		Refusals.assertRefused(NoPropertyOfElement.class, "refers to 'skuu', which Item does not have", "sku");
		Refusals.assertRefused(NoPropertyOfValue.class, "refers to 'skuu'", "sku");
		Refusals.assertRefused(NoPropertyOfArrayElement.class, "refers to 'skuu'", "sku");
		Refusals.assertRefused(NoPropertyInProjection.class, "refers to 'skuu'", "sku");
		Refusals.assertRefused(NoPropertyInSelection.class, "refers to 'skuu'", "sku");
		Refusals.assertRefused(NoPropertyByIndex.class, "refers to 'idd'", "id");
		Refusals.assertRefused(NoMethod.class, "refers to 'getIdd', which Order does not have", "id");
		Refusals.assertRefused(NoPropertyInList.class, "refers to 'itm'", "item");
		Refusals.assertRefused(NoPropertyInTernary.class, "refers to 'idd'", "id");
		Refusals.assertRefused(NoPropertyInArgument.class, "refers to 'idd'", "id");
		Refusals.assertRefused(NoPropertyByPosition.class, "refers to 'idd'", "id");
		Refusals.assertRefused(NoPropertyOfHeader.class, "refers to 'value', which String does not have", "Use one of");
		Refusals.assertRefused(NoPropertyOfPrimitive.class, "refers to 'value', which Integer does not have", "");
		Refusals.assertRefused(NoPropertyOfEnum.class, "refers to 'label', which Size does not have", "");
		Refusals.assertRefused(NoPropertyOfSealed.class, "refers to 'radius', which Shape does not have", "");
		Refusals.assertRefused(NoPropertyInScope.class, "its scope expression '#order.tenant' refers to 'tenant'",
				"id");
		Refusals.assertRefused(NoPropertyInFingerprint.class, "its fingerprint expression", "item");
		Refusals.assertRefused(NoPropertyInCondition.class, "its condition expression", "id");
	}

	@Test
	void whatCanBeNoKeyIsRefused() {
		Refusals.assertRefused(RecordAsKey.class, "its key expression '#order' gives Order, which cannot be a key",
				"java.time");
		Refusals.assertRefused(NestedRecordAsKey.class, "gives Item, which cannot be a key", "java.time");
		Refusals.assertRefused(BeanAsKey.class, "gives Bean, which cannot be a key", "java.time");
		Refusals.assertRefused(RecordsAsKey.class, "gives Order, which cannot be a key", "java.time");
		Refusals.assertRefused(RecordInKey.class, "gives Order, which cannot be a key", "java.time");
		Refusals.assertRefused(ArraysAsKey.class, "gives String[], which cannot be a key", "");
		Refusals.assertRefused(OptionalAsKey.class, "gives Optional, which cannot be a key", "");
		Refusals.assertRefused(DateAsKey.class, "gives Date, which cannot be a key", "java.time");
		Refusals.assertRefused(ProjectedRecordsAsKey.class, "gives Item, which cannot be a key", "");
		Refusals.assertRefused(RecordAsScope.class,
				"its scope expression '#order' gives Order, which cannot be a scope", "");
		Refusals.assertRefused(ListAsScope.class, "gives List, which cannot be a scope", "");
		Refusals.assertRefused(TextAsCondition.class, "gives String, which is neither true nor false", "");
	}

	@Test
	void theTypeOfAVariableIsThatOfTheBeansClass() {
		assertThat(Refusals.of(HandlerOfOrders.class)).hasMessageContaining("'idd', which Order does not have");
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void whatMayBeIsAccepted(CapturedOutput output) {
		try (AnnotationConfigApplicationContext context = MethodDoorSetup.start(Property.class, Accessor.class,
				Chain.class, Nested.class, Projected.class, InsideOfSelection.class, FirstOf.class, AnyMap.class,
				AnyMapEntry.class, AnyObject.class, AnyObjectAsKey.class, AnyInterface.class, AnyInterfaceAsKey.class,
				AnyAbstract.class, AnyAbstractAsKey.class, AnyPayload.class, AnyRawList.class, AnyWildcard.class,
				AnyMapOwnClass.class, AnyClass.class, AnyBeanCall.class, AnyOptional.class, Getter.class,
				SizeOfList.class, EnumAsKey.class, EnumText.class, PermittedProperty.class, NumberAsKey.class,
				ListAsKey.class, CharsAsKey.class, TextsAsKey.class, WhenAsKey.class, ArrayLength.class,
				BooleanCondition.class, BoxedCondition.class, RecordAsFingerprint.class)) {
			assertThat(context.isActive()).isTrue();
		}
		assertThat(output).doesNotContain("does not have");
	}

	@Test
	@ExtendWith(OutputCaptureExtension.class)
	void whatOnlyASubclassMayHaveIsReportedOnce(CapturedOutput output) {
		try (AnnotationConfigApplicationContext context = MethodDoorSetup.start(NoPropertyOfBean.class)) {
			assertThat(context.isActive()).isTrue();
		}
		assertThat(output).containsOnlyOnce("WARN")
			.contains(NoPropertyOfBean.class.getName() + "#run(Bean)",
					"'#bean.idd' refers to 'idd', which Bean does not have", "Use one of: id, open, ready, size");
	}

	static class NoPropertyOfBean {

		@Idempotent("#bean.idd")
		public void run(Bean bean) {
		}

	}

	abstract static class Handler<T> {

		@Idempotent("#command.idd")
		public void run(T command) {
		}

	}

	static class HandlerOfOrders extends Handler<Order> {

	}

	record Item(String sku, int price) {
	}

	record Order(String id, Item item, List<Item> items, Map<String, Item> byName, Object payload) {
	}

	enum Size {

		SMALL

	}

	sealed interface Shape {

	}

	record Square(int width) implements Shape {
	}

	record Line(int length) implements Shape {
	}

	interface Animal {

	}

	abstract static class Plant {

	}

	@SuppressWarnings("unused")
	static class Bean {

		public final String open = "";

		private int hidden;

		public String getId() {
			return "" + this.hidden;
		}

		public boolean isReady() {
			return true;
		}

		public int size() {
			return 1;
		}

	}

	static class NoProperty {

		@Idempotent(key = "#order.idd")
		public void run(Order order) {
		}

	}

	static class NullSafe {

		@Idempotent(key = "#order?.idd")
		public void run(Order order) {
		}

	}

	static class NoNestedProperty {

		@Idempotent(key = "#order.item.skuu")
		public void run(Order order) {
		}

	}

	static class NoPropertyOfElement {

		@Idempotent(key = "#order.items[0].skuu")
		public void run(Order order) {
		}

	}

	static class NoPropertyOfValue {

		@Idempotent(key = "#order.byName['x'].skuu")
		public void run(Order order) {
		}

	}

	static class NoPropertyOfArrayElement {

		@Idempotent(key = "#items[0].skuu")
		public void run(Item[] items) {
		}

	}

	static class NoPropertyInProjection {

		@Idempotent(key = "#order.items.![skuu]")
		public void run(Order order) {
		}

	}

	static class NoPropertyInSelection {

		@Idempotent(key = "#order.items.?[skuu == 'a'].size()")
		public void run(Order order) {
		}

	}

	static class NoPropertyByIndex {

		@Idempotent(key = "#order['idd']")
		public void run(Order order) {
		}

	}

	static class NoMethod {

		@Idempotent(key = "#order.getIdd()")
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

	static class NoPropertyOfHeader {

		@Idempotent(key = "header('X').value")
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

	static class NoPropertyOfSealed {

		@Idempotent(key = "#shape.radius")
		public void run(Shape shape) {
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

	static class RecordAsKey {

		@Idempotent(key = "#order")
		public void run(Order order) {
		}

	}

	static class NestedRecordAsKey {

		@Idempotent(key = "#order.item")
		public void run(Order order) {
		}

	}

	static class BeanAsKey {

		@Idempotent(key = "#bean")
		public void run(Bean bean) {
		}

	}

	static class RecordsAsKey {

		@Idempotent(key = "#orders")
		public void run(List<Order> orders) {
		}

	}

	static class RecordInKey {

		@Idempotent(key = "{#id, #order}")
		public void run(String id, Order order) {
		}

	}

	static class ArraysAsKey {

		@Idempotent(key = "#names")
		public void run(String[][] names) {
		}

	}

	static class OptionalAsKey {

		@Idempotent(key = "#id")
		public void run(Optional<String> id) {
		}

	}

	static class DateAsKey {

		@Idempotent(key = "#date")
		public void run(Date date) {
		}

	}

	static class ProjectedRecordsAsKey {

		@Idempotent(key = "#orders.![item]")
		public void run(List<Order> orders) {
		}

	}

	static class RecordAsScope {

		@Idempotent(key = "#order.id", scope = "#order")
		public void run(Order order) {
		}

	}

	static class ListAsScope {

		@Idempotent(key = "#order.id", scope = "#ids")
		public void run(Order order, List<String> ids) {
		}

	}

	static class TextAsCondition {

		@Idempotent(key = "#order.id", condition = "#order.id")
		public void run(Order order) {
		}

	}

	static class Property {

		@Idempotent(key = "#order.id")
		public void run(Order order) {
		}

	}

	static class Accessor {

		@Idempotent(key = "#order.id()")
		public void run(Order order) {
		}

	}

	static class Chain {

		@Idempotent(key = "#order.id.length()")
		public void run(Order order) {
		}

	}

	static class Nested {

		@Idempotent(key = "{#order.item.sku, #order.items[0].price, #order.byName['x'].sku}")
		public void run(Order order) {
		}

	}

	static class Projected {

		@Idempotent(key = "#order.items.?[price > 1].![sku]")
		public void run(Order order) {
		}

	}

	static class InsideOfSelection {

		@Idempotent(key = "#order.items.?[#this.sku == #root.header('X')].![#this.sku]")
		public void run(Order order) {
		}

	}

	static class FirstOf {

		@Idempotent(key = "#order.items.^[price > 1].sku")
		public void run(Order order) {
		}

	}

	static class AnyMap {

		@Idempotent(key = "#map.whatever")
		public void run(Map<String, Object> map) {
		}

	}

	static class AnyMapEntry {

		@Idempotent(key = "#map['a']['b'].c")
		public void run(Map<String, Object> map) {
		}

	}

	static class AnyObject {

		@Idempotent(key = "#any.whatever")
		public void run(Object any) {
		}

	}

	static class AnyObjectAsKey {

		@Idempotent(key = "#any")
		public void run(Object any) {
		}

	}

	static class AnyInterface {

		@Idempotent(key = "#animal.bark")
		public void run(Animal animal) {
		}

	}

	static class AnyInterfaceAsKey {

		@Idempotent(key = "#animal")
		public void run(Animal animal) {
		}

	}

	static class AnyAbstract {

		@Idempotent(key = "#plant.leaf")
		public void run(Plant plant) {
		}

	}

	static class AnyAbstractAsKey {

		@Idempotent(key = "#plant")
		public void run(Plant plant) {
		}

	}

	static class AnyPayload {

		@Idempotent(key = "#order.payload.whatever")
		public void run(Order order) {
		}

	}

	static class AnyRawList {

		@Idempotent(key = "#list[0].whatever")
		public void run(@SuppressWarnings("rawtypes") List list) {
		}

	}

	static class AnyWildcard {

		@Idempotent(key = "#list[0].whatever")
		public void run(List<?> list) {
		}

	}

	static class AnyMapOwnClass {

		@Idempotent(key = "#tree.whatever")
		public void run(java.util.TreeMap<String, String> tree) {
		}

	}

	static class AnyClass {

		@Idempotent(key = "#type.MAX_VALUE")
		public void run(Class<?> type) {
		}

	}

	static class AnyBeanCall {

		@Idempotent(key = "@orders.idOf(#order.id)")
		public void run(Order order) {
		}

	}

	static class AnyOptional {

		@Idempotent(key = "#id.value")
		public void run(Optional<Order> id) {
		}

	}

	static class Getter {

		@Idempotent(key = "{#bean.id, #bean.ready, #bean.open, #bean.size}")
		public void run(Bean bean) {
		}

	}

	static class SizeOfList {

		@Idempotent(key = "#list.size()")
		public void run(ArrayList<String> list) {
		}

	}

	static class EnumAsKey {

		@Idempotent(key = "#size")
		public void run(Size size) {
		}

	}

	static class EnumText {

		@Idempotent(key = "#size.name()")
		public void run(Size size) {
		}

	}

	static class PermittedProperty {

		@Idempotent(key = "#shape.width")
		public void run(Shape shape) {
		}

	}

	static class NumberAsKey {

		@Idempotent(key = "#count")
		public void run(long count) {
		}

	}

	static class ListAsKey {

		@Idempotent(key = "#ids")
		public void run(List<Integer> ids) {
		}

	}

	static class CharsAsKey {

		@Idempotent(key = "#chars")
		public void run(char[] chars) {
		}

	}

	static class TextsAsKey {

		@Idempotent(key = "#chars")
		public void run(CharSequence chars) {
		}

	}

	static class WhenAsKey {

		@Idempotent(key = "#at")
		public void run(java.time.Instant at) {
		}

	}

	static class ArrayLength {

		@Idempotent(key = "#items.length")
		public void run(Item[] items) {
		}

	}

	static class BooleanCondition {

		@Idempotent(key = "#order.id", condition = "#flag")
		public void run(Order order, boolean flag) {
		}

	}

	static class BoxedCondition {

		@Idempotent(key = "#order.id", condition = "#bean.ready")
		public void run(Order order, Bean bean) {
		}

	}

	static class RecordAsFingerprint {

		@Idempotent(key = "#order.id", fingerprint = "#order")
		public void run(Order order) {
		}

	}

}
