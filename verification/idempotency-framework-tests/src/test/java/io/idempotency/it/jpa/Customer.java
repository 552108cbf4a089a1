package io.idempotency.it.jpa;

import java.util.ArrayList;
import java.util.List;

import com.fasterxml.jackson.annotation.JsonPropertyOrder;
import jakarta.persistence.CascadeType;
import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.GeneratedValue;
import jakarta.persistence.GenerationType;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.OneToMany;
import org.jspecify.annotations.Nullable;

/** Is rendered with purchases that nobody has loaded before. */
@Entity
@JsonPropertyOrder({ "id", "name", "purchases" })
class Customer {

	@Id
	@GeneratedValue(strategy = GenerationType.SEQUENCE)
	private @Nullable Long id;

	@Column(length = 100_000)
	private String name;

	@OneToMany(fetch = FetchType.LAZY, cascade = CascadeType.ALL)
	@JoinColumn
	private List<Purchase> purchases = new ArrayList<>();

	Customer(String name, List<Purchase> purchases) {
		this.name = name;
		this.purchases.addAll(purchases);
	}

	protected Customer() {
		this("", List.of());
	}

	public @Nullable Long getId() {
		return this.id;
	}

	public String getName() {
		return this.name;
	}

	public List<Purchase> getPurchases() {
		return this.purchases;
	}

}
