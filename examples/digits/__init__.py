"""Small classifiers of scikit-learn's handwritten digits, in plain NumPy."""
